package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// projectTop is the folder of the module, seen from here.
const projectTop = "../.."

// untracked tells which files of a checkout a tagged tree does not hold: what is built, and modules inside the module.
func untracked(name string, entry fs.DirEntry) bool {
	switch {
	case entry.IsDir():
		_, err := os.Stat(filepath.Join(projectTop, name, "go.mod"))
		return name == ".git" || name == "dist" || name != "." && err == nil
	case path.Dir(name) == "web/assets/built":
		return path.Base(name) != "README"
	}
	return !entry.Type().IsRegular() || name == "rollscope" || path.Ext(name) == ".test" || path.Ext(name) == ".prof"
}

// publishTree makes a module proxy that has the tree as one version of the module.
func publishTree(t *testing.T, proxy, module, version string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(projectTop, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "list", version+"\n")
	write(t, dir, version+".mod", string(mod))
	write(t, dir, version+".info", fmt.Sprintf(`{"Version":%q,"Time":"2026-01-02T03:04:05Z"}`, version))
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	err = fs.WalkDir(os.DirFS(projectTop), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if untracked(name, entry) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: module + "@" + version + "/" + name, Method: zip.Store})
		if err != nil {
			return err
		}
		in, err := os.Open(filepath.Join(projectTop, name))
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(w, in)
		return err
	})
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// fileURL is the address of a folder.
func fileURL(dir string) string {
	return "file://" + path.Join("/", filepath.ToSlash(dir))
}

// TestInstall installs a tagged version as somebody does who has no checkout: "go install …@v1.2.3". What is not in the
// repository, the page's module, is not there, and the commands that need it say so; all others work. Everything else
// comes from the modules that are here already.
func TestInstall(t *testing.T) {
	const module, version = "github.com/rollscope/rollscope", "v1.2.3"
	cached, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	proxy, bin := filepath.Join(work, "proxy"), filepath.Join(work, "bin")
	publishTree(t, proxy, module, version)
	// Trimmed paths make the results of this build those of others, so most of it was compiled before.
	install := exec.Command("go", "install", "-trimpath", module+"/cmd/rollscope@"+version)
	install.Dir = work
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+filepath.Join(work, "mod"), "GOFLAGS=-modcacherw", "GOWORK=off",
		"GOPROXY="+fileURL(proxy)+","+fileURL(filepath.Join(strings.TrimSpace(string(cached)), "cache", "download")),
		"GOSUMDB=off", "GONOPROXY=none", "GOPRIVATE=", "GOTOOLCHAIN=local")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	program := filepath.Join(bin, "rollscope")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	run := filepath.Join(work, "run")
	if err := os.CopyFS(run, os.DirFS(filepath.Join(projectTop, "testdata", "cases", "35-failures-and-missing"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"version"}, exitDone, "rollscope 1.2.3 go"},
		{[]string{"version", "--json"}, exitDone, `"version":"1.2.3"`},
		{[]string{"--version"}, exitDone, "1.2.3"},
		{[]string{"view", "--no-open"}, exitRefused, "make wasm"},
		{[]string{"serve"}, exitRefused, "make wasm"},
		{[]string{"bundle", "-o", filepath.Join(work, "viewer")}, exitRefused, "make wasm"},
		{[]string{"health", filepath.Join(run, "rollouts.jsonl")}, exitDone, "rollouts"},
		{[]string{"rows", filepath.Join(run, "rollouts.jsonl")}, exitDone, "rollouts.jsonl:1"},
		{[]string{"verify", run}, exitDone, "rollouts"},
		{[]string{"checks"}, exitDone, "model_call_failed"},
	} {
		cmd := exec.Command(program, c.args...)
		cmd.WaitDelay = time.Minute
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("rollscope %s: status %d, want %d and %q: %.400s", strings.Join(c.args, " "), code, c.code, c.says, out)
		}
	}
	if _, err := os.Stat(filepath.Join(work, "viewer")); err == nil {
		t.Error("a folder was made")
	}
}
