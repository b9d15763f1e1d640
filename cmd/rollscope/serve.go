package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/server"
	"github.com/rollscope/rollscope/web/bundle"
)

func serveCommand(h *host) *cobra.Command {
	var (
		addr  string
		root  string
		allow []string
	)
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "serve the page, and runs below a directory",
		Long: `Serve the page. With --root the runs below a directory are listed and can be
opened; files whose names begin with a dot and links out of the directory are
not handed out.

The server listens on this machine alone unless --addr names another address.
Requests under other host names than its own are refused; --allow-host adds
names, for example that of a proxy in front of it. There is no log-in: whoever
reaches the server can read the runs.`,
		Args: exactly(0, "serve takes no argument; --root names a directory"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := h.kit()
			if err != nil {
				return err
			}
			site, err := server.NewSite(k, bundle.Options{})
			if err != nil {
				return err
			}
			o := server.Options{Site: site, AllowHosts: allow}
			if cmd.Flags().Changed("root") {
				shelf, err := server.Below(root)
				if err != nil {
					return err
				}
				defer shelf.Close()
				o.Runs, o.Choice = shelf, true
			}
			l, err := listen(addr, false)
			if err != nil {
				return err
			}
			fmt.Fprintf(h.err, "Serving at %s; Ctrl-C ends it.\n", address(l))
			return h.serve(cmd.Context(), l, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&addr, "addr", server.DefaultAddr, "listen at `host:port`")
	f.StringVar(&root, "root", "", "list the runs below this `directory`")
	f.StringSliceVar(&allow, "allow-host", nil, "answer under this `host` name as well")
	return cmd
}
