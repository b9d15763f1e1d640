package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// notice is the name of a file that has to go along with a module's code.
var notice = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// licences gives the licences of Go and of every module that the command or the page's module is made of.
func licences() ([]byte, error) {
	modules := map[string]string{} // name and version → folder
	root, err := said("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules["Go"] = root
	for target, environment := range map[string][]string{"./cmd/rollscope": nil, "./wasm": {"GOOS=js", "GOARCH=wasm"}} {
		text, err := saidIn(environment, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", target)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if name, dir, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
				modules[name] = dir
			}
		}
	}
	var names []string
	for name := range modules {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	for _, name := range names {
		entries, err := os.ReadDir(modules[name])
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !notice.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(modules[name], e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&b, "==== %s: %s\n\n%s\n\n", name, e.Name(), bytes.TrimSpace(text))
		}
		if !found {
			return nil, fmt.Errorf("%s has no licence in %s", name, modules[name])
		}
	}
	return b.Bytes(), nil
}
