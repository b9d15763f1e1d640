// Package core_test guards what all core packages promise.
package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forbidden are the imports that would tie the core to a host.
var forbidden = map[string]bool{
	"os": true, "os/exec": true, "os/signal": true, "net": true, "net/http": true, "path/filepath": true,
	"syscall": true, "syscall/js": true, "log": true, "log/slog": true,
}

// TestImports reads the source of every core package: no host, and no product package from above.
func TestImports(t *testing.T) {
	const module = "github.com/rollscope/rollscope/"
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if forbidden[name] {
				t.Errorf("%s imports %s", path, name)
			}
			if rest, ours := strings.CutPrefix(name, module); ours && !strings.HasPrefix(rest, "core/") {
				t.Errorf("%s imports %s, which stands above the core", path, name)
			}
		}
		// The clock is a host as well.
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" && (s.Sel.Name == "Now" || s.Sel.Name == "Since" || s.Sel.Name == "Until") {
					t.Errorf("%s asks the clock: time.%s", path, s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}
