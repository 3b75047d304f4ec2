package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/internal/service"
	"github.com/seed-76f09577/turnwire/wasm/upload"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// protocolPlaces are where every upload protocol is named by hand, outside the client's table and the reference service's.
// NAME stands for the protocol.
var protocolPlaces = []struct{ file, what, form string }{
	{"docs/profile.md", "row in the table of wire forms", "(?m)^ *\\| `NAME` \\|"},
	{"web/src/index.d.ts", "member of the type UploadProtocol", `(?s)type UploadProtocol =[^;]*"NAME"`},
	{"e2e/support/files.mjs", "ticket for the tests in browsers", `(?m)^  "?NAME"?: \(address\)`},
	{"e2e/hostile/plans.mjs", "uploads at the hostile service", `(?m)const protocol = .*[ "]NAME"?: \d`},
	{"e2e/hostile/requests.mjs", "ticket at the hostile service", `case "NAME":`},
}

// TestServedProtocols shows that the reference service has a storage for each upload protocol of its list.
func TestServedProtocols(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(top, "internal", "service", "protocol.go"))
	require.NoError(t, err)
	storages := ""
	for _, folder := range []string{"internal/blobstore/*.go", "internal/blobstore/cloud/*.go"} {
		files, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(folder)))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			storages += string(text)
		}
	}
	constants := regexp.MustCompile(`(?m)^\t(\w+) +Protocol = "(.+)"$`).FindAllStringSubmatch(string(list), -1)
	assert.Len(t, constants, len(service.Protocols), "constants and list of internal/service/protocol.go")
	for _, constant := range constants {
		assert.True(t, strings.Contains(storages, "Ticket{Protocol: service."+constant[1]+"}") || strings.Contains(storages, "Ticket{Protocol: service."+constant[1]+","),
			"no storage under internal/blobstore asks for the upload protocol %s", constant[2])
	}
}

// TestProtocols says what an upload protocol lacks. What it lacks among the client's own tests, theirs say.
func TestProtocols(t *testing.T) {
	names := upload.Protocols()
	var served []string
	for _, p := range service.Protocols {
		served = append(served, string(p))
	}
	assert.ElementsMatch(t, names, served, "the client's upload protocols (wasm/upload) and the reference service's (internal/service) are not the same")

	for _, place := range protocolPlaces {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(place.file)))
		require.NoError(t, err)
		for _, name := range names {
			form := regexp.MustCompile(strings.ReplaceAll(place.form, "NAME", regexp.QuoteMeta(name)))
			assert.True(t, form.Match(text), "%s: upload protocol %s has no %s", place.file, name, place.what)
		}
	}
}
