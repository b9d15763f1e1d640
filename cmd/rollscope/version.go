package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollscope/rollscope/core/view"
)

// A build says what this program is.
type build struct {
	Version  string `json:"version"`            // of its tag, or "devel"
	Revision string `json:"revision,omitempty"` // the commit, or as much of it as is known
	Modified bool   `json:"modified,omitempty"` // the sources were not those of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// A release is named by a tag. What the Go command makes up for a commit without one ends in a time and a commit.
var (
	release = regexp.MustCompile(`^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`)
	madeUp  = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})$`)
)

// buildOf reads what the Go command left in a program: of a module that was installed its version, of a checkout its
// commit, and the tag of that where it has one and nothing was changed since.
func buildOf(info *debug.BuildInfo) build {
	b := build{Version: view.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	tag, _, _ := strings.Cut(info.Main.Version, "+dirty")
	if m := madeUp.FindStringSubmatch(tag); m != nil {
		b.Revision = m[1]
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if m := release.FindStringSubmatch(tag); m != nil && !madeUp.MatchString(tag) && !b.Modified {
		b.Version = m[1]
	}
	return b
}

func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

// String is what the version command prints behind the name.
func (b build) String() string {
	commit := ""
	switch {
	case b.Revision != "" && b.Modified:
		commit = " (commit " + b.Revision[:min(len(b.Revision), 12)] + ", changed)"
	case b.Revision != "":
		commit = " (commit " + b.Revision[:min(len(b.Revision), 12)] + ")"
	}
	return fmt.Sprintf("%s%s %s %s", b.Version, commit, b.Go, b.Platform)
}

func versionCommand(h *host) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "print the version, the commit it was made of and the Go release",
		Args:  exactly(0, "version takes no argument"),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return printJSON(h.out, b)
			}
			_, err := fmt.Fprintf(h.out, "rollscope %s\n", b)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}
