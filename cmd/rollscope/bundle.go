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
	var output string
	cmd := &cobra.Command{
		Use:   "bundle -o DIR|FILE.html",
		Short: "write the viewer for a static host or as one file",
		Long: `Write the page without a server: into a directory for any static host, or as
one HTML file that opens from a disk. It holds no data; runs are dropped on it.`,
		Example: "  rollscope bundle -o viewer\n  rollscope bundle -o rollscope.html",
		Args:    exactly(0, "bundle takes no argument; -o names a directory or an HTML file"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return usagef("-o is missing: name a directory or a file that ends in .html")
			}
			k, err := h.kit()
			if err != nil {
				return err
			}
			dir, files := output, []bundle.File(nil)
			if ending := strings.ToLower(filepath.Ext(output)); ending == ".html" || ending == ".htm" {
				body, err := k.Single()
				if err != nil {
					return err
				}
				dir, files = filepath.Dir(output), []bundle.File{{Name: filepath.Base(output), Body: body}}
			} else if files, err = k.Folder(); err != nil {
				return err
			}
			products := make([]product, len(files))
			size := int64(0)
			for i, f := range files {
				products[i] = product{filepath.FromSlash(f.Name), func(w io.Writer) error { _, err := w.Write(f.Body); return err }}
				size += int64(len(f.Body))
			}
			if err := save(cmd.Context(), dir, nil, products); err != nil {
				return err
			}
			_, err = fmt.Fprintf(h.err, "%s: %s, %s\n", safe(output), amount(len(files), "file"), view.Bytes(size))
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write into this `directory`, or this file that ends in .html")
	return cmd
}
