package main_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/wasm/engine"
	"github.com/rollscope/rollscope/wasm/gojs"
)

// native is the engine behind the exports of the module, without the module.
type native struct {
	gojs.Guest // what the tests do not use
	engine     engine.Engine
	in, out    []byte
}

func (n *native) CallInt32(_ context.Context, name string, args ...int32) (int32, error) {
	status := func(answer []byte, more bool, err error) int32 {
		if n.out = answer; err != nil {
			n.out = engine.Failure(err.Error(), "")
			return -1
		}
		if more {
			return 1
		}
		return 0
	}
	switch name {
	case "buf":
		n.in = make([]byte, args[0])
		return 0, nil
	case "feed":
		done, err := n.engine.Feed(n.in[:args[0]])
		return status(nil, done, err), nil
	case "call":
		return status(n.engine.Call(int(args[0]), n.in[:args[1]])), nil
	case "out":
		return 0, nil
	case "outlen":
		return int32(len(n.out)), nil
	}
	return 0, fmt.Errorf("there is no %s", name)
}

func (n *native) ReadMemory(_, size uint32) ([]byte, error) { return n.out[:size], nil }

func (n *native) WriteMemory(_ uint32, b []byte) error {
	copy(n.in, b)
	return nil
}

func (n *native) Close(context.Context) error { return nil }

// TestTwins opens run folders in the module, in small ranges, and natively, in one: every tab, and every part of a
// rollout, is drawn with the same bytes. What the tabs say is held against the reference elsewhere.
func TestTwins(t *testing.T) {
	var folders []string
	for _, pattern := range []string{"../testdata/runs/*/*", "../testdata/health/s16-agents/input", "../testdata/health/s17-masked/input", "../testdata/health/s18-failures-resume/input", "../testdata/health/s11-gap-codes/input", "../testdata/metrics/*/input"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range found {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.Base(dir) != "expected" {
				folders = append(folders, dir)
			}
		}
	}
	if len(folders) < 20 {
		t.Fatalf("%d folders", len(folders))
	}
	module := guest(t, "js")
	pages := 0
	for n, dir := range folders {
		files := folder(t, dir)
		twin := &host{Guest: new(native), t: t}
		twin.open(files, 1<<30)
		module.open(files, 3000)
		fragments := []string{}
		for _, tab := range view.Tabs {
			fragments = append(fragments, "#tab="+tab.ID)
		}
		if name := firstRollouts(files, dir); name != "" && n%4 == 0 {
			for _, part := range []string{"transcript", "calls", "tokens", "attempts", "raw"} {
				fragments = append(fragments, "#rollout="+name+":1&part="+part)
			}
		}
		for _, fragment := range fragments {
			want, got := twin.probed(fragment, files, 1<<30), module.probed(fragment, files, 3000)
			if want.Phase != got.Phase || len(want.Regions) != len(got.Regions) {
				t.Fatalf("%s %s: phase %s, want %s", dir, fragment, got.Phase, want.Phase)
			}
			for name, html := range want.Regions {
				if got.Regions[name] != html {
					t.Errorf("%s %s: the region %s differs\n%.400s\nwant\n%.400s", dir, fragment, name, apart(got.Regions[name], html), apart(html, got.Regions[name]))
				}
			}
			pages++
		}
	}
	t.Logf("%d pages of %d folders", pages, len(folders))
}

// apart is a text from shortly in front of its first difference from another on.
func apart(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-80):]
}

// folder reads the files of a directory.
func folder(t *testing.T, dir string) (list []input) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		list = append(list, input{Path: "run/" + filepath.ToSlash(name), Size: len(b), data: b})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// firstRollouts names a rollouts file as the page shows it, "" if there is none at the top of the folder.
func firstRollouts(files []input, _ string) string {
	for _, f := range files {
		name := strings.TrimPrefix(f.Path, "run/")
		if strings.HasSuffix(name, ".jsonl") && !strings.Contains(name, "/") && !strings.Contains(name, "_failures") && !strings.Contains(name, "_inputs") && !strings.Contains(name, "_attempts") {
			return name
		}
	}
	return ""
}
