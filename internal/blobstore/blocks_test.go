package blobstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/blobstore"
	"github.com/seed-76f09577/turnwire/internal/service"
)

func TestBlockLists(t *testing.T) {
	b := open(t, blobstore.Config{})
	put := func(address string, blocks ...string) {
		for _, entry := range blocks {
			id, body, _ := strings.Cut(entry, " ")
			require.Equal(t, 201, b.block(address, id, body))
		}
	}
	cases := map[string]struct {
		first  []string // blocks
		list   []string // committed
		second []string
		again  []string
		code   string // of the last commit
		want   string
	}{
		"in the list's order":     {[]string{"a one", "b two"}, []string{"Latest b", "Latest a"}, nil, nil, "", "twoone"},
		"not all":                 {[]string{"a one", "b two"}, []string{"Latest b"}, nil, nil, "", "two"},
		"twice":                   {[]string{"a one"}, []string{"Latest a", "Latest a"}, nil, nil, "", "oneone"},
		"sent again":              {[]string{"a one", "a uno"}, []string{"Uncommitted a"}, nil, nil, "", "uno"},
		"none":                    {[]string{"a one"}, []string{}, nil, nil, "", ""},
		"staged is no committed":  {[]string{"a one"}, []string{"Committed a"}, nil, nil, "InvalidBlockList", ""},
		"others are dropped":      {[]string{"a one", "b two"}, []string{"Latest a"}, nil, []string{"Latest b"}, "InvalidBlockList", "one"},
		"committed again":         {[]string{"a one", "b two"}, []string{"Latest a", "Latest b"}, []string{"a uno"}, []string{"Committed a", "Latest a", "Latest b"}, "", "oneunotwo"},
		"latest falls back":       {[]string{"a one"}, []string{"Latest a"}, nil, []string{"Latest a"}, "", "one"},
		"uncommitted has no past": {[]string{"a one"}, []string{"Latest a"}, nil, []string{"Uncommitted a"}, "InvalidBlockList", "one"},
	}
	n := 0
	for name, c := range cases {
		n++
		id := fmt.Sprint("object", n)
		t.Run(name, func(t *testing.T) {
			b.t = t
			address := b.begin(id)
			put(address, c.first...)
			_, code := b.commit(address, c.list...)
			if c.again != nil {
				require.Empty(t, code)
				put(address, c.second...)
				_, code = b.commit(address, c.again...)
			}
			require.Equal(t, c.code, code)
			if c.code != "" && c.again == nil {
				_, err := b.store.Read(t.Context(), service.Object{ID: id})
				require.ErrorIs(t, err, service.ErrNoBytes)
				return
			}
			require.Equal(t, c.want, b.stored(id))
		})
	}
}

func TestGetBlockListAndBlob(t *testing.T) {
	b := open(t, blobstore.Config{})
	address := b.begin("one")
	b.block(address, "a", "one")
	b.commit(address, "Latest a")
	b.block(address, "b", "three")
	shown := map[string]string{
		"committed":   `<BlockList><CommittedBlocks><Block><Name>YQ==</Name><Size>3</Size></Block></CommittedBlocks></BlockList>`,
		"uncommitted": `<BlockList><UncommittedBlocks><Block><Name>Yg==</Name><Size>5</Size></Block></UncommittedBlocks></BlockList>`,
		"all":         `<BlockList><CommittedBlocks><Block><Name>YQ==</Name><Size>3</Size></Block></CommittedBlocks><UncommittedBlocks><Block><Name>Yg==</Name><Size>5</Size></Block></UncommittedBlocks></BlockList>`,
	}
	for kind, want := range shown {
		resp, body := b.do("GET", address+"&comp=blocklist&blocklisttype="+kind, "")
		require.Equal(t, 200, resp.StatusCode)
		require.True(t, strings.HasSuffix(body, want), body)
	}
	resp, body := b.do("GET", address, "", "Range", "bytes=1-")
	require.Equal(t, 206, resp.StatusCode)
	require.Equal(t, "ne", body)
	require.Equal(t, "text/x", resp.Header.Get("Content-Type"))
	resp, _ = b.do("HEAD", address, "")
	require.Equal(t, int64(3), resp.ContentLength)
}

func TestPutBlob(t *testing.T) {
	b := open(t, blobstore.Config{})
	address := b.begin("one")
	b.block(address, "a", "staged")
	for _, body := range []string{"first", "", "second"} {
		resp, _ := b.do("PUT", address, body, "x-ms-blob-type", "BlockBlob")
		require.Equal(t, 201, resp.StatusCode)
		require.NotEmpty(t, resp.Header.Get("ETag"))
	}
	_, code := b.commit(address, "Latest a")
	require.Equal(t, "InvalidBlockList", code, "a whole blob drops what was staged")
	require.Equal(t, "second", b.stored("one"))

	whole := b.begin("two", plain)
	resp, _ := b.do("PUT", whole, "plain", "Content-Type", "text/plain")
	require.Equal(t, 201, resp.StatusCode)
	require.Equal(t, "plain", b.stored("two"))
}
