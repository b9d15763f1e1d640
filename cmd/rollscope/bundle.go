package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/web/bundle"
)

func bundleCommand(h *host) *cobra.Command {
	var output, verify string
	var o bundling
	cmd := &cobra.Command{
		Use:   "bundle [RUN…] -o DIR|FILE.html [flags]",
		Short: "write the viewer, with or without runs, for a static host or as one file",
		Long: `Write the page without a server: into a directory for any static host, or as
one HTML file that opens from a disk. Without a run it holds no data; runs are
dropped on it. With runs it opens them by itself: their rollouts, or the rows that
fit --filter, and the smaller files beside them, in blocks that are fetched when
somebody looks at them. One file holds up to 100 MB of packed blocks.

A bundle says when it was made, from what and what was left out, and holds every
block against its hash when it is opened. --verify does that for all of them.

--redact takes fields out of the rows; RULES are written here or, behind @, in a
file: "drop PATH", "length PATH" (texts become as many x) or "keep PATH", one a
line or separated by semicolons, the last that holds decides. A path is names
joined by dots, * any member or element, ** any number of levels. Whole copies of
texts and numbers of eight characters or more that were taken out are masked in
what remains, behind escapes as well; names of members such as "content" stay.
Files that are no rollouts are left out, as are the names, sizes and hashes of the
sources, and lines that cannot be read.`,
		Example: `  rollscope bundle -o viewer
  rollscope bundle RUN_DIR -o run.html --title "Run of Tuesday"
  rollscope bundle RUN_DIR -o site --filter verdict:unhealthy
  rollscope bundle RUN_DIR -o shared.html --redact 'length **.content; length **.text'
  rollscope bundle --verify run.html`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			if verify != "" {
				if output != "" || len(paths) > 0 {
					return usagef("--verify reads a bundle and writes nothing")
				}
				return h.verifyBundle(verify)
			}
			if output == "" {
				return usagef("-o is missing: name a directory or a file that ends in .html")
			}
			if len(paths) == 0 && (o.filter != "" || o.redact != "" || o.title != "") {
				return usagef("--filter, --redact and --title are about runs, and none is named")
			}
			if cmd.Flags().Changed("redact") && o.redact == "" {
				// An empty variable of a shell, say: to hand everything on then would be the opposite of what was meant.
				return usagef("--redact names no rule")
			}
			k, err := h.kit()
			if err != nil {
				return err
			}
			ending := strings.ToLower(filepath.Ext(output))
			single := ending == ".html" || ending == ".htm"
			if len(paths) > 0 {
				return h.bundleRuns(cmd.Context(), k, paths, output, single, o)
			}
			dir, files := output, []bundle.File(nil)
			if single {
				body, err := k.Single()
				if err != nil {
					return err
				}
				dir, files = filepath.Dir(output), []bundle.File{{Name: filepath.Base(output), Body: body}}
			} else if files, err = k.Folder(); err != nil {
				return err
			}
			products, size := productsOf(files)
			if err := save(cmd.Context(), dir, nil, products); err != nil {
				return err
			}
			_, err = fmt.Fprintf(h.err, "%s: %s, %s\n", safe(output), amount(len(files), "file"), view.Bytes(size))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&output, "output", "o", "", "write into this `directory`, or this file that ends in .html")
	f.StringVar(&o.filter, "filter", "", "take the rows along that fit this `expression` alone")
	f.StringVar(&o.redact, "redact", "", "take fields out of the rows by these `rules`, or by those in @FILE")
	f.StringVar(&o.title, "title", "", "`title` of the page")
	f.StringVar(&verify, "verify", "", "hold the `bundle`, a directory or a file, against its hashes")
	f.IntVar(&o.workers, "workers", min(h.cpus, mostWorkers), "read with this `number` of workers; results do not depend on it")
	return cmd
}

// productsOf are files to be written, with their bytes.
func productsOf(files []bundle.File) (products []product, size int64) {
	for _, f := range files {
		products = append(products, product{filepath.FromSlash(f.Name), func(w io.Writer) error { _, err := w.Write(f.Body); return err }})
		size += int64(len(f.Body))
	}
	return products, size
}
