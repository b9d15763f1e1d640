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
	)
	cmd := &cobra.Command{
		Use:   "view [PATH…] [flags]",
		Short: "open the page on these runs, or on a sample",
		Long: `Serve the page on this machine alone and open a browser on it.

Files are handed to the page as they are, directories with everything below
them; nothing else can be read through the server. Without a path the page
opens a sample run. Ctrl-C ends it.`,
		Example: "  rollscope view\n  rollscope view RUN_DIR\n  rollscope view --no-open --print-url shard-*.jsonl",
		RunE: func(cmd *cobra.Command, paths []string) error {
			k, err := h.kit()
			if err != nil {
				return err
			}
			opening := bundle.Options{Sample: true}
			var shelf server.Shelf
			if len(paths) > 0 {
				files, err := expand(paths)
				if err != nil {
					return err
				}
				shelf = server.Named(strings.Join(paths, " "), files)
				opening = bundle.Options{Runs: server.NamedURL}
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
	f.StringSliceVar(&allow, "allow-host", nil, "answer under this `host` name as well")
	return cmd
}

// expand lists the files behind paths: a file is itself, a directory is every file below it, but for names that
// begin with a dot. They come in the default order of runs, under the paths as they were given.
func expand(paths []string) ([]server.NamedFile, error) {
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
		info, err := os.Stat(given)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("not found: %s", given)
		case err != nil:
			return nil, err
		case info.IsDir():
			before := len(files)
			if err := below(given, add); err != nil {
				return nil, err
			}
			if len(files) == before {
				return nil, fmt.Errorf("there is no file in %s", given)
			}
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is neither a file nor a directory", given)
		default:
			add(given, info)
		}
	}
	ordered := make([]server.NamedFile, 0, len(files))
	for _, i := range runfolder.Sort(sizes).Order {
		ordered = append(ordered, files[i])
	}
	return ordered, nil
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
