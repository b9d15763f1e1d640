package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/health"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/server"
	"github.com/rollscope/rollscope/web/bundle"
)

func viewCommand(h *host) *cobra.Command {
	var (
		addr     string
		noOpen   bool
		printURL bool
		allow    []string
		follow   bool
	)
	cmd := &cobra.Command{
		Use:   "view [PATH…] [flags]",
		Short: "open the page on these runs, or on a sample",
		Long: `Serve the page on this machine alone and open a browser on it.

Files are handed to the page as they are, directories with everything below
them; nothing else can be read through the server. Without a path the page
opens a sample run. Ctrl-C ends it.

With --follow the page keeps up with a run that is still being written: rows
that are appended and files that are added appear while it is looked at.`,
		Example: "  rollscope view\n  rollscope view RUN_DIR\n  rollscope view --follow RUN_DIR\n  rollscope view --no-open --print-url shard-*.jsonl",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if follow && len(paths) == 0 {
				return usagef("--follow is about a run, and none is named")
			}
			k, err := h.kit()
			if err != nil {
				return err
			}
			opening := bundle.Options{Sample: true}
			var shelf server.Shelf
			if len(paths) > 0 {
				name := strings.Join(paths, " ")
				// A run that is followed may have written nothing yet, and later on whatever is there is listed.
				files, err := expandBut(paths, func(err error) bool { return follow && errors.Is(err, errEmpty) })
				if err != nil {
					return err
				}
				shelf = server.Named(name, files)
				if follow {
					shelf = server.Followed(name, func() ([]server.NamedFile, error) { return expandBut(paths, func(error) bool { return true }) })
				}
				opening = bundle.Options{Runs: server.NamedURL, Follow: follow}
			}
			site, err := server.NewSite(k, opening)
			if err != nil {
				return err
			}
			l, err := listen(addr, true)
			if err != nil {
				return err
			}
			url := address(l)
			if printURL {
				fmt.Fprintln(h.out, url)
			} else {
				fmt.Fprintf(h.err, "The page is at %s and ends with Ctrl-C.\n", url)
			}
			if !noOpen {
				if err := h.browse(url); err != nil {
					h.note("no browser could be opened; open %s", url)
				}
			}
			return h.serve(cmd.Context(), l, server.Options{Site: site, Runs: shelf, AllowHosts: allow})
		},
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", server.DefaultAddr, "listen at `host:port`, or at the next free port")
	f.BoolVar(&noOpen, "no-open", false, "open no browser")
	f.BoolVar(&printURL, "print-url", false, "print the address, and nothing else, on standard output")
	f.BoolVar(&follow, "follow", false, "show rows and files that are added while the page is open")
	f.StringSliceVar(&allow, "allow-host", nil, "answer under this `host` name as well")
	return cmd
}

// errEmpty means that a directory holds no file.
var errEmpty = errors.New("there is no file in it")

// expand lists the files behind paths: a file is itself, a directory is every file below it, but for names that
// begin with a dot. They come in the default order of runs, under the paths as they were given.
func expand(paths []string) ([]server.NamedFile, error) {
	return expandBut(paths, func(error) bool { return false })
}

// expandBut is expand for paths of which some may have no file: it ends with such an error unless that is forgiven.
func expandBut(paths []string, forgive func(error) bool) ([]server.NamedFile, error) {
	var files []server.NamedFile
	var sizes []runfolder.File
	seen := map[string]bool{}
	add := func(path string, info fs.FileInfo) {
		name := health.Lexical(filepath.ToSlash(path))
		if !seen[name] {
			seen[name] = true
			files = append(files, server.NamedFile{Path: path, Name: name})
			sizes = append(sizes, runfolder.File{Path: name, Size: info.Size()})
		}
	}
	for _, given := range paths {
		if err := behind(given, add); err != nil && !forgive(err) {
			return nil, err
		}
	}
	ordered := make([]server.NamedFile, 0, len(files))
	for _, i := range runfolder.Sort(sizes).Order {
		ordered = append(ordered, files[i])
	}
	return ordered, nil
}

// behind gives the files behind one path.
func behind(given string, add func(string, fs.FileInfo)) error {
	info, err := os.Stat(given)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("not found: %s", given)
	case err != nil:
		return err
	case info.IsDir():
		any := false
		err := below(given, func(path string, info fs.FileInfo) {
			any = true
			add(path, info)
		})
		if err == nil && !any {
			err = fmt.Errorf("%s: %w", given, errEmpty)
		}
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a directory", given)
	}
	add(given, info)
	return nil
}

// below gives the regular files below a directory. Links of files are followed, those of directories are not,
// but for the directory that was named itself.
func below(dir string, add func(string, fs.FileInfo)) error {
	dir += string(filepath.Separator) // behind a link it means what the link leads to
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir():
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				add(path, info)
			}
		}
		return nil
	})
}
