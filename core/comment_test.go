package core_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackageComments holds what package comments teach against the packages: the names in their examples and links are
// there.
func TestPackageComments(t *testing.T) {
	exported := map[string]map[string]bool{} // by the name of the package
	comments := map[string]string{}          // by its folder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "testdata" {
			return err
		}
		files := token.NewFileSet()
		names, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}
		var list []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			list = append(list, f)
		}
		if len(list) == 0 {
			return nil
		}
		p, err := doc.NewFromFiles(files, list, path)
		if err != nil {
			return err
		}
		if p.Doc == "" {
			t.Errorf("package %s has no comment", path)
		}
		comments[path] = p.Name + "\n" + p.Doc
		all := map[string]bool{}
		exported[p.Name] = all
		values := func(list []*doc.Value) {
			for _, v := range list {
				for _, name := range v.Names {
					all[name] = true
				}
			}
		}
		functions := func(owner string, list []*doc.Func) {
			for _, f := range list {
				all[owner+f.Name] = true
			}
		}
		values(p.Consts)
		values(p.Vars)
		functions("", p.Funcs)
		for _, typ := range p.Types {
			all[typ.Name] = true
			values(typ.Consts)
			values(typ.Vars)
			functions("", typ.Funcs)
			functions(typ.Name+".", typ.Methods)
			for _, spec := range typ.Decl.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				switch x := s.Type.(type) {
				case *ast.StructType:
					for _, field := range x.Fields.List {
						for _, name := range field.Names {
							all[s.Name.Name+"."+name.Name] = true
						}
					}
				case *ast.InterfaceType:
					for _, method := range x.Methods.List {
						for _, name := range method.Names {
							all[s.Name.Name+"."+name.Name] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	link := regexp.MustCompile(`\[([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	for path, comment := range comments {
		name, text, _ := strings.Cut(comment, "\n")
		for _, found := range used.FindAllStringSubmatch(text, -1) {
			variable := regexp.MustCompile(`\b` + found[1] + `\b[^\n]* := `).MatchString(text)
			if all, core := exported[found[1]]; core && !variable && !all[found[2]] {
				t.Errorf("the comment of %s uses %s, which is not there", path, found[0])
			}
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if !exported[name][found[1]] {
				t.Errorf("the comment of %s links to %s, which is not there", path, found[1])
			}
		}
	}
}
