package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// The version is that of a tag, or none; the commit is told where it is known.
func TestBuildOf(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		main     string
		settings []debug.BuildSetting
		want     string
	}{
		{"", nil, "devel go"},
		{"(devel)", nil, "devel go"},
		{"v1.2.3", nil, "1.2.3 go"},
		{"v1.2.3-rc.1", nil, "1.2.3-rc.1 go"},
		{"v1.2.3", vcs("false"), "1.2.3 (commit 0123456789ab) go"},
		{"v1.2.3+dirty", vcs("true"), "devel (commit 0123456789ab, changed) go"},
		{"v0.0.0-20260102030405-abcdefabcdef", nil, "devel (commit abcdefabcdef) go"},
		{"v1.2.4-0.20260102030405-abcdefabcdef", nil, "devel (commit abcdefabcdef) go"},
		{"v1.2.4-0.20260102030405-0123456789ab+dirty", vcs("true"), "devel (commit 0123456789ab, changed) go"},
	} {
		info := &debug.BuildInfo{Settings: c.settings}
		info.Main.Version = c.main
		if got := buildOf(info).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s…", c.main, got, c.want)
		}
	}
	if got := buildOf(nil); got.Version != "devel" {
		t.Errorf("without any information the version is %q", got.Version)
	}
}
