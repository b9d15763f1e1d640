package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"testing"
)

// service takes the constants of a service worker apart.
func service(t *testing.T, files []File) (version string, list map[string][2]string, data, source string) {
	t.Helper()
	for _, f := range files {
		if f.Name != serviceName {
			continue
		}
		m := regexp.MustCompile(`(?s)^const VERSION = "([0-9a-f]{16})";\nconst FILES = (\{[^\n]*\});\nconst DATA = "([^"\n]*)";\n(.*)$`).FindStringSubmatch(string(f.Body))
		if m == nil {
			t.Fatalf("the service worker is %.300q", f.Body)
		}
		if err := json.Unmarshal([]byte(m[2]), &list); err != nil {
			t.Fatal(err)
		}
		return m[1], list, m[3], m[4]
	}
	t.Fatal("there is no service worker")
	return
}

// The worker lists every file that the page needs, as it stands in the folder, and the document asks for its version.
func TestOffline(t *testing.T) {
	k := load(t, parts())
	small, large := data("{}"), data("{}")
	large.Size = MaxSingle + 1
	versions := map[string]bool{}
	for name, c := range map[string]struct {
		make  func() ([]File, error)
		needs string
		data  string
	}{
		"viewer": {k.Folder, "assets/rollscope.wasm", ""},
		"bundle": {func() ([]File, error) { return k.FolderWith(small) }, "data/a1a1a1a1a1a1a1a1/index.json", "data/a1a1a1a1a1a1a1a1/"},
		"large":  {func() ([]File, error) { return k.FolderWith(large) }, "data/a1a1a1a1a1a1a1a1/index.json", ""},
	} {
		files, err := c.make()
		if err != nil {
			t.Fatal(err)
		}
		version, list, data, source := service(t, files)
		if versions[version] {
			t.Errorf("%s has the version of another one", name)
		}
		versions[version] = true
		if data != c.data || source != "answer();\n" {
			t.Errorf("%s: data %q, source %q", name, data, source)
		}
		if _, there := list[c.needs]; !there {
			t.Errorf("%s: %s is not kept", name, c.needs)
		}
		bodies, document := map[string]File{}, ""
		for _, f := range files {
			bodies[f.Name] = f
			switch {
			case f.Name == documentName:
				document = string(f.Body)
			case f.Name == serviceName, strings.HasSuffix(f.Name, ".gz"), strings.HasSuffix(f.Name, ".br"), path.Ext(f.Name) == ".txt":
				continue
			}
			sum := sha256.Sum256(f.Body)
			if list[f.Name] != [2]string{f.Type, hex.EncodeToString(sum[:])} {
				t.Errorf("%s: %s is listed as %q", name, f.Name, list[f.Name])
			}
		}
		for kept := range list {
			if _, there := bodies[kept]; !there {
				t.Errorf("%s: %s is kept and not there", name, kept)
			}
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="(assets/[^"?]*)([^"]*)"`).FindAllStringSubmatch(document, -1) {
			if m[2] != "?"+version {
				t.Errorf("%s: the document asks for %s of %q", name, m[1], m[2])
			}
		}
	}
}

// Any change of any part makes another version.
func TestVersions(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "page.js", "worker.js", "vendor/a.js", "static/service.js", "static/icon.svg", "built/rollscope.wasm", "built/wasm_exec.js"} {
		tree := parts()
		if name != "" {
			tree[name].Data = append(tree[name].Data, ' ')
		}
		files, err := load(t, tree).Folder()
		if err != nil {
			t.Fatal(err)
		}
		version, _, _, _ := service(t, files)
		if other, there := seen[version]; there {
			t.Errorf("a change of %q has the version of a change of %q", name, other)
		}
		seen[version] = name
	}
	tree := parts()
	delete(tree, "static/service.js")
	if _, err := load(t, tree).Folder(); err == nil {
		t.Error("a folder was made without its service worker")
	}
}

// The manifest is JSON, names icons that are there, and has no address that depends on where the folder lies.
func TestManifest(t *testing.T) {
	for _, handles := range []bool{true, false} {
		var m struct {
			Start string `json:"start_url"`
			Scope string
			Icons []struct{ Src string }
			Files []struct{ Action string } `json:"file_handlers"`
		}
		if err := json.Unmarshal(manifest(handles), &m); err != nil {
			t.Fatal(err)
		}
		if m.Start != "./" || m.Scope != "./" || len(m.Icons) != 2 || (len(m.Files) == 1) != handles {
			t.Errorf("manifest %+v", m)
		}
		files, err := load(t, parts()).Folder()
		if err != nil {
			t.Fatal(err)
		}
		_, list, _, _ := service(t, files)
		for _, icon := range m.Icons {
			if _, there := list[icon.Src]; !there {
				t.Errorf("there is no icon %s", icon.Src)
			}
		}
	}
}
