package library

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string) *Library {
	t.Helper()
	l, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func file(id, name, content string) File {
	return File{WorkspaceID: "demo", ID: id, Name: name, Content: strings.NewReader(content), Size: int64(len(content))}
}

func add(t *testing.T, l *Library, f File) {
	t.Helper()
	require.NoError(t, l.Add(t.Context(), f))
}

func search(t *testing.T, l *Library, query string) []Passage {
	t.Helper()
	found, err := l.Search(t.Context(), "demo", query, 5)
	require.NoError(t, err)
	return found
}

func texts(found []Passage) []string {
	var out []string
	for _, p := range found {
		out = append(out, p.File+": "+p.Text)
	}
	return out
}

func TestSearch(t *testing.T) {
	l := open(t, "")
	add(t, l, file("f1", "handbook.md", "# Holidays\n\nEmployees have 30 days of holiday a year. Unused days lapse in March.\n\n# Travel\n\nTrains first, and second class."))
	add(t, l, file("f2", "Recipes.txt", "Crème brûlée: cream, sugar and six eggs.\n\n\n# of eggs: see above"))
	add(t, l, file("f3", "日本.txt", "東京は日本の首都です。\n休暇は年に三十日あります。Go言語も使います。"))
	add(t, l, file("f4", "travel.txt", "A holiday begins at the station."))
	other := file("f5", "secret.txt", "Holidays of another workspace.")
	other.WorkspaceID = "other"
	add(t, l, other)
	long := strings.Repeat("One word after the other fills the page. ", 14) + "The needle is here. " + strings.Repeat("And again words. ", 50)
	add(t, l, file("f6", "long.txt", long))

	cases := map[string]struct {
		query string
		first string // how the best passage begins; "" for none
		count int
	}{
		"a question":              {"What does the handbook say about holidays?", "handbook.md: Holidays\nEmployees have 30 days", 2},
		"another form":            {"lapsing", "handbook.md: Holidays", 1},
		"without accents":         {"creme brulee", "Recipes.txt: Crème brûlée", 1},
		"a name alone":            {"what is in the recipes", "Recipes.txt: Crème", 1},
		"a name with its ending":  {"recipes.txt", "Recipes.txt: Crème", 1},
		"in their order":          {`"unused days"`, "handbook.md: Holidays", 1},
		"not in their order":      {`"days unused"`, "", 0},
		"in printed quotes":       {"“second class”", "handbook.md: Travel", 1},
		"Chinese characters":      {"首都", "日本.txt: 東京は日本の首都です。", 1},
		"one character":           {"京", "日本.txt: 東京は", 1},
		"a Japanese question":     {"休暇は何日ですか", "日本.txt: 東京は", 1},
		"beside another script":   {"Go", "日本.txt: 東京は", 1},
		"deep in a text":          {"needle", "long.txt: …", 1},
		"not there":               {"quantum chromodynamics", "", 0},
		"nothing said":            {"what is it about?", "", 0},
		"nothing":                 {"", "", 0},
		"signs":                   {`"' AND ( NOT * ^ : - + {`, "", 0},
		"the language of FTS5":    {`name : holiday NEAR(days eggs, 2) AND NOT "`, "handbook.md: Holidays", 3},
		"an unfinished quotation": {`"holiday`, "handbook.md: Holidays", 2},
		"bytes":                   {"\xff\x00holiday\x00\xfe", "handbook.md: Holidays", 2},
		"a long one":              {strings.Repeat("nothing else matters ", 10_000) + " holiday", "", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found := search(t, l, c.query)
			require.Len(t, found, c.count, "%q", texts(found))
			if c.first != "" {
				require.True(t, strings.HasPrefix(texts(found)[0], c.first), "%q", texts(found))
			}
			for i, p := range found {
				require.Positive(t, p.Score)
				require.True(t, i == 0 || p.Score <= found[i-1].Score, "the best comes first")
				require.NotContains(t, p.Text, string(joint))
			}
		})
	}
	t.Run("the name ranks", func(t *testing.T) {
		l := open(t, "")
		for name, text := range map[string]string{"a.txt": "Travel by train.", "b.txt": "Some holiday.", "travel.txt": "A holiday begins.", "c.txt": "Else"} {
			add(t, l, file(name, name, text))
		}
		require.Equal(t, "travel.txt", search(t, l, "travel holiday")[0].File)
	})
	t.Run("at most", func(t *testing.T) {
		found, err := l.Search(t.Context(), "demo", "holiday days eggs", 2)
		require.NoError(t, err)
		require.Len(t, found, 2)
	})
	t.Run("what is told", func(t *testing.T) {
		p := search(t, l, "trains")[0]
		p.Score = 0
		require.Equal(t, Passage{FileID: "f1", File: "handbook.md", Number: 2, Text: "Travel\nTrains first, and second class."}, p)
	})
}

func pdfOf(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("pdf", "testdata", name+".pdf"))
	require.NoError(t, err)
	return content
}

func TestPages(t *testing.T) {
	l := open(t, "")
	var all sync.WaitGroup
	for _, name := range []string{"handbook", "paper", "unlocked"} {
		f := file(name, name+".pdf", string(pdfOf(t, name)))
		f.ContentType = "application/pdf"
		all.Go(func() {
			if err := l.Add(t.Context(), f); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p := search(t, l, "Who signs for flights?")[0]
	require.Equal(t, "handbook.pdf", p.File)
	require.Equal(t, 2, p.Page)
	require.Contains(t, p.Text, "Flights need the signature of Zoë Größe, who also answers questions about fluffy coffins and affine flights.")
	p = search(t, l, "idempotency")[0]
	require.Equal(t, "paper.pdf", p.File)
	require.Equal(t, 2, p.Page)
}

func TestReplaceAndRemove(t *testing.T) {
	l := open(t, "")
	has := func() bool {
		has, err := l.HasFiles(t.Context(), "demo")
		require.NoError(t, err)
		return has
	}
	require.False(t, has())
	add(t, l, file("a", "a.txt", "apples\n\n"+strings.Repeat("many words ", 500)))
	add(t, l, file("b", "b.txt", "bananas"))
	add(t, l, file("a", "a2.txt", "apricots"))
	require.Empty(t, search(t, l, "apples"))
	require.Empty(t, search(t, l, "many words"))
	require.Equal(t, []string{"a2.txt: apricots"}, texts(search(t, l, "apricots")))

	require.ErrorIs(t, l.Add(t.Context(), file("a", "a.txt", "\xff")), ErrUnreadable)
	require.Len(t, search(t, l, "apricots"), 1, "what can't be read replaces nothing")

	require.NoError(t, l.Remove(t.Context(), "other", "a"))
	require.Len(t, search(t, l, "apricots"), 1)
	require.NoError(t, l.Remove(t.Context(), "demo", "a"))
	require.NoError(t, l.Remove(t.Context(), "demo", "a"))
	require.Empty(t, search(t, l, "apricots"))
	require.True(t, has())
	require.Equal(t, []string{"b.txt: bananas"}, texts(search(t, l, "bananas")))
	require.NoError(t, l.Remove(t.Context(), "demo", "b"))
	require.False(t, has())
}

func TestOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?#% name.db")
	l, err := Open(path)
	require.NoError(t, err)
	add(t, l, file("a", "a.txt", "apples"))
	require.NoError(t, l.Close())
	_, err = os.Stat(path)
	require.NoError(t, err)
	require.Len(t, search(t, open(t, path), "apples"), 1)

	_, err = Open(filepath.Join(t.TempDir(), "no", "folder", "x.db"))
	require.Error(t, err)
}

func TestAtTheSameTime(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "x.db"))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			f := file(fmt.Sprint(i%5), fmt.Sprintf("%d.txt", i%5), fmt.Sprintf("apples\n\n%d pears", i))
			if err := l.Add(t.Context(), f); err != nil {
				t.Error(err)
			}
			if _, err := l.Search(t.Context(), "demo", "apples pears", 3); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found, err := l.Search(t.Context(), "demo", "apples", 100)
	require.NoError(t, err)
	require.Len(t, found, 5)
}

func TestStopped(t *testing.T) {
	l := open(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := file("a", "a.txt", "apples")
	require.ErrorIs(t, l.Add(ctx, f), context.Canceled)
	require.NotErrorIs(t, l.Add(ctx, f), ErrUnreadable)
	_, err := l.Search(ctx, "demo", "apples", 1)
	require.ErrorIs(t, err, context.Canceled)
}

func FuzzSearch(f *testing.F) {
	l, err := Open("")
	require.NoError(f, err)
	f.Cleanup(func() { _ = l.Close() })
	text := "Any text, 東京 and naïve \"quotes\" AND NEAR."
	require.NoError(f, l.Add(context.Background(), File{WorkspaceID: "demo", ID: "a", Name: "a.txt", Content: strings.NewReader(text), Size: int64(len(text))}))
	for _, seed := range []string{`"`, `a"b`, "NEAR(", "a*", "^a", "東京", "\x00", `“a" b”`, "-a +b :c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		_, err := l.Search(t.Context(), "demo", query, 3)
		require.NoError(t, err)
	})
}

func FuzzExtract(f *testing.F) {
	for kind, seeds := range map[string][]string{
		plainText: {"a\n\nb", "\xff\xfea\x00", "\xef\xbb\xbfa"},
		markdown:  {"# a\n\n- b\n\n| c |\n|---|\n| d |", "<b>c", "&amp; `x`"},
		hypertext: {"<p>a<br>b<script>c</script>", "<table><tr><td>a", "\xfe\xff\x00a", "<template><template></template>"},
	} {
		for _, seed := range seeds {
			f.Add(kind, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, content []byte) {
		blocks, err := extract(t.Context(), File{Name: "x", ContentType: kind, Content: bytes.NewReader(content), Size: int64(len(content))})
		if err != nil {
			require.ErrorIs(t, err, ErrUnreadable)
		}
		for _, p := range passages(blocks) {
			require.NotEmpty(t, p.text)
			require.LessOrEqual(t, len([]rune(p.text)), 2*passageRunes)
		}
	})
}

// TestStoppedAnywhere interrupts writes and searches: a database in memory lives as long as its connection.
func TestStoppedAnywhere(t *testing.T) {
	l := open(t, "")
	add(t, l, file("kept", "kept.txt", "quinces"))
	long := file("long", "long.txt", strings.Repeat("Many words, and then apples.\n\n", 500))
	for i := range 60 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			if i%2 == 0 {
				done <- l.Add(ctx, long)
				return
			}
			_, err := l.Search(ctx, "demo", "many words", 100)
			done <- err
		}()
		for range i * 10 {
			runtime.Gosched()
		}
		cancel()
		if err := <-done; err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Equal(t, []string{"kept.txt: quinces"}, texts(search(t, l, "quinces")))
}
