package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The runtime of templ mentions net/http and html/template for servers, which would come into the module whole and
// never run there: half a megabyte to load, half of it for TLS. The module is compiled with these small packages
// instead. They hold what the runtime names and nothing that works.
//
//go:embed slim/*.txt
var slim embed.FS

var slimmed = map[string]string{"net/http": "slim/http.txt", "html/template": "slim/template.txt"}

// overlay writes the file that tells the compiler which files to take in place of others, into a new directory that
// the caller removes.
func overlay() (dir, file string, err error) {
	if dir, err = os.MkdirTemp("", "rollscope-build-"); err != nil {
		return "", "", err
	}
	replace := map[string]string{}
	for name, text := range slimmed {
		list := exec.Command("go", "list", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, name)
		list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		out, err := list.Output()
		if err != nil {
			return dir, "", fmt.Errorf("find the files of %s: %w", name, err)
		}
		content, err := slim.ReadFile(text)
		if err != nil {
			return dir, "", err
		}
		small := filepath.Join(dir, filepath.Base(text)+".go")
		if err := os.WriteFile(small, content, 0o644); err != nil {
			return dir, "", err
		}
		for i, path := range strings.Fields(string(out)) {
			if replace[path] = ""; i == 0 {
				replace[path] = small
			}
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return dir, "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return dir, file, os.WriteFile(file, b, 0o644)
}
