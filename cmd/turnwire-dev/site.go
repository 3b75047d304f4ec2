package main

import (
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

// policy lets a page run its own scripts and WebAssembly and talk to any service, and nothing else.
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src *; " +
	"style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

// docsPolicy is the same for pages whose script writes a style of its own, of what its settings hide.
var docsPolicy = strings.Replace(policy, "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1)

// types are those that a browser insists on; the machine's own table may lack or twist them.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".ts":   "text/plain; charset=utf-8",
	".json": "application/json",
	".map":  "application/json",
	".wasm": "application/wasm",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".ico":  "image/x-icon",
	".txt":  "text/plain; charset=utf-8",
	".md":   "text/markdown; charset=utf-8",
}

// site puts the service and the three folders on one origin. The page is told the names of the models, where there are any.
func site(api http.Handler, o *options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/", api)
	mux.Handle("/debug/", api)
	mux.Handle("/storage/", api)
	mux.Handle("/turnwire/", http.StripPrefix("/turnwire", folder(o.dist, policy, "Turnwire", "make build", nil)))
	mux.Handle("/docs/", http.StripPrefix("/docs", folder(o.docs, docsPolicy, "The documentation", "make docs", nil)))
	mux.Handle("/", folder(o.web, policy, "Turnwire", "make build", o.model.names.list))
	return mux
}

// folder serves the files of a folder. It is looked at for every request, so that a build that ends
// after the start is seen. Until then its pages say what builds it. Their <html> gets the names of the models.
func folder(dir, policy, what, build string, models []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this is a file: GET it", http.StatusMethodNotAllowed)
			return
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			notBuilt(w, r, what, build)
			return
		}
		defer root.Close()
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" || strings.HasSuffix(r.URL.Path, "/") {
			name = path.Join(name, "index.html")
		}
		file, err := root.Open(name)
		var info fs.FileInfo
		if err == nil {
			defer file.Close()
			info, err = file.Stat()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == "index.html":
			notBuilt(w, r, what, build)
			return
		case err != nil || info.IsDir():
			http.Error(w, "404: there is no such file", http.StatusNotFound)
			return
		}
		kind, ok := types[path.Ext(name)]
		if !ok {
			kind = mime.TypeByExtension(path.Ext(name))
		}
		if kind == "" {
			kind = "application/octet-stream"
		}
		h.Set("Content-Type", kind)
		if len(models) > 0 && path.Ext(name) == ".html" {
			page, err := io.ReadAll(file)
			if err != nil {
				http.Error(w, "500: the file can't be read", http.StatusInternalServerError)
				return
			}
			told := `<html data-models="` + html.EscapeString(strings.Join(models, ", ")) + `"`
			http.ServeContent(w, r, name, time.Time{}, strings.NewReader(strings.Replace(string(page), "<html", told, 1)))
			return
		}
		h.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
		http.ServeContent(w, r, name, info.ModTime(), file)
	})
}

const notBuiltPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>%[1]s is not built</title>
<h1>%[1]s is not built</h1>
<p>The service is running, but this page is not there yet. Run <code>%[2]s</code> and reload.</p>
</html>
`

func notBuilt(w http.ResponseWriter, r *http.Request, what, build string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = fmt.Fprintf(w, notBuiltPage, what, build)
	}
}
