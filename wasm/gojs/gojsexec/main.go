// Gojsexec runs a program or a test binary that was built with GOOS=js
// GOARCH=wasm, without a browser and without Node.js:
//
//	go build -o /some/folder/gojsexec ./wasm/gojs/gojsexec
//	GOOS=js GOARCH=wasm go test -exec /some/folder/gojsexec strings
//	GOOS=js GOARCH=wasm go run -exec /some/folder/gojsexec .
//
// Usage: gojsexec [-cache DIR] MODULE.wasm [ARGUMENT…]
//
// The program gets the arguments, the environment, the three standard streams
// and the time zone. It reads the file tree of the machine but cannot change
// it; its temporary directory (TMPDIR) lies in memory and vanishes with it. The
// exit code is the program's; 1 when the module cannot be run.
//
// Compiled modules are kept in the user's cache folder under "gojsexec" and
// dropped when they were compiled more than five days ago. -cache names another
// folder, "-cache off" keeps nothing.
//
// A js module has 8 KiB for its arguments and environment. When the environment
// is longer, its longest entries are left out and named on standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/rollscope/rollscope/wasm/gojs"
)

func main() {
	code, err := run(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "gojsexec: %v\n", err)
	}
	os.Exit(code)
}

// scratch is the guest's temporary directory. Its name must not hide anything
// of the machine's.
const scratch = "/.gojsexec-scratch"

func run(args, env []string, stdin io.Reader, stdout, stderr io.Writer) (code int, err error) {
	flags := flag.NewFlagSet("gojsexec", flag.ContinueOnError)
	flags.SetOutput(stderr)
	cacheDir := flags.String("cache", "", "`folder` for compiled modules, \"off\" for none")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: gojsexec [-cache DIR] MODULE.wasm [ARGUMENT…]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 2, nil // the flag package has said why
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return 2, nil
	}
	wasm, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return 1, err
	}

	ctx := context.Background()
	rc := wazero.NewRuntimeConfig()
	cache, err := openCache(*cacheDir, time.Now())
	if err != nil {
		fmt.Fprintf(stderr, "gojsexec: without cache: %v\n", err)
	}
	if cache != nil {
		defer cache.Close(ctx)
		rc = rc.WithCompilationCache(cache)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, rc)
	defer rt.Close(ctx)

	mod, err := gojs.Compile(ctx, rt, wasm)
	if err != nil {
		return 1, fmt.Errorf("%s: %w", flags.Arg(0), err)
	}
	cfg := gojs.Config{
		Args: flags.Args(), Env: setenv(env, "TMPDIR", scratch),
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Scratch: scratch,
	}
	if cfg.FS, cfg.Dir, err = machine(); err != nil {
		return 1, err
	}
	var left []string
	if cfg.Env, left = fit(cfg.Args, cfg.Env); len(left) > 0 {
		fmt.Fprintf(stderr, "gojsexec: environment too long for a js module, left out: %s\n", strings.Join(left, ", "))
	}
	in, err := mod.Start(ctx, cfg)
	if err != nil {
		return 1, err
	}
	defer in.Close(ctx)
	err = in.Run(ctx)
	if code, exited := in.ExitCode(); exited {
		return code, nil // the program itself has said why
	}
	return 1, err
}

// machine is the file tree that holds the working directory, and the guest's
// path of that directory.
func machine() (fs.FS, string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, "", err
	}
	root := filepath.VolumeName(wd) + string(filepath.Separator)
	return os.DirFS(root), "/" + filepath.ToSlash(strings.TrimPrefix(wd, root)), nil
}

func setenv(env []string, name, value string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
	return append(out, name+"="+value)
}

// fit drops the longest entries until arguments and environment find room, and
// returns the names of what it dropped.
func fit(args, env []string) (kept, left []string) {
	kept = slices.Clone(env)
	for gojs.ArgsSize(args, kept) > gojs.ArgsRoom && len(kept) > 0 {
		longest := 0
		for i, e := range kept {
			if len(e) > len(kept[longest]) {
				longest = i
			}
		}
		name, _, _ := strings.Cut(kept[longest], "=")
		left = append(left, name)
		kept = slices.Delete(kept, longest, longest+1)
	}
	return kept, left
}

// keep is how long compiled modules are kept. Every build of a test makes a new
// one, so without a limit the folder would grow for ever.
const keep = 5 * 24 * time.Hour

// openCache opens the compilation cache in dir, by default in the user's cache
// folder. It is nil for "off" and when there is no such folder.
func openCache(dir string, now time.Time) (wazero.CompilationCache, error) {
	switch dir {
	case "off":
		return nil, nil
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, nil
		}
		dir = filepath.Join(base, "gojsexec")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := prune(dir, now); err != nil {
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(dir)
}

// prune removes what is older than keep, at most once a day. Files that another
// process removes at the same time are no error.
func prune(dir string, now time.Time) error {
	mark := filepath.Join(dir, "pruned")
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()) < 24*time.Hour {
		return nil
	}
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		return err
	}
	if err := os.Chtimes(mark, now, now); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil && now.Sub(info.ModTime()) > keep {
				err = os.Remove(path)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
