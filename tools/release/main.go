// Command release makes what a release consists of, from the commit that is checked out, into dist/release:
// the command for every platform as an archive, the static viewer as a folder in an archive and as one file, and
// SHA256SUMS of them all.
//
// The same commit and Go release give the same bytes: paths are trimmed, nothing of the machine goes in, and every
// time in an archive is that of the commit. The version is the tag of the commit; without a tag, or with changes, it is
// what git describes the commit as, and that is said.
//
// Run it in the folder of the tools: go run ./release [-only linux/amd64,windows/amd64]
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A platform is one that the command is built for.
type platform struct{ system, machine string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"},
}

func main() {
	only := flag.String("only", "", "build for these `platforms` of the list alone, separated by commas")
	flag.Parse()
	if err := run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// chosen lists the platforms whose names are given; all of them if none is.
func chosen(only string) (list []platform, err error) {
	if only == "" {
		return platforms, nil
	}
	for name := range strings.SplitSeq(only, ",") {
		system, machine, _ := strings.Cut(name, "/")
		p := platform{system, machine}
		if !slices.Contains(platforms, p) {
			return nil, fmt.Errorf("-only %s: there is no such platform", name)
		}
		list = append(list, p)
	}
	return list, nil
}

func run(only string) error {
	targets, err := chosen(only)
	if err != nil {
		return err
	}
	if err := os.Chdir(".."); err != nil {
		return err
	}
	version, when, err := described()
	if err != nil {
		return err
	}
	output := filepath.Join("dist", "release")
	work := filepath.Join("dist", ".release")
	for _, dir := range []string{output, work} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	defer os.RemoveAll(work)

	if err := command(nil, "go", "run", "./web/build"); err != nil {
		return err
	}
	notices, err := licences()
	if err != nil {
		return err
	}
	texts := []entry{{name: "LICENSES-OF-MODULES.txt", body: notices}}
	for _, name := range []string{"LICENSE", "README.md"} {
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts = append(texts, entry{name: name, body: body})
	}
	for _, p := range targets {
		if err := p.pack(work, output, version, when, texts); err != nil {
			return fmt.Errorf("%s/%s: %w", p.system, p.machine, err)
		}
	}
	if err := viewer(work, output, version, when); err != nil {
		return fmt.Errorf("viewer: %w", err)
	}
	return sums(output)
}

// described gives the version of the commit and its time.
func described() (version string, when time.Time, err error) {
	text, err := said("git", "describe", "--tags", "--always", "--dirty", "--match", "v[0-9]*")
	if err != nil {
		return "", when, err
	}
	if _, err := said("git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*"); err != nil || strings.HasSuffix(text, "-dirty") {
		fmt.Fprintf(os.Stderr, "release: %s is no tag, so this is a build like any other\n", text)
	}
	seconds, err := said("git", "log", "-1", "--format=%ct")
	if err != nil {
		return "", when, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	return strings.TrimPrefix(text, "v"), time.Unix(unix, 0).UTC(), err
}

// pack builds the command for a platform and puts it into an archive.
func (p platform) pack(work, output, version string, when time.Time, texts []entry) error {
	name := "rollscope"
	if p.system == "windows" {
		name += ".exe"
	}
	program := filepath.Join(work, name)
	environment := []string{"GOOS=" + p.system, "GOARCH=" + p.machine, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off"}
	if err := command(environment, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", program, "./cmd/rollscope"); err != nil {
		return err
	}
	body, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	folder := fmt.Sprintf("rollscope_%s_%s_%s", version, p.system, p.machine)
	files := []entry{{name: folder + "/" + name, body: body, runs: true}}
	for _, t := range texts {
		files = append(files, entry{name: folder + "/" + t.name, body: t.body})
	}
	write := tarball
	ending := ".tar.gz"
	if p.system == "windows" {
		write, ending = zipped, ".zip"
	}
	return archive(filepath.Join(output, folder+ending), write, files, when)
}

// viewer writes the static viewer in both its forms, by the command of this machine.
func viewer(work, output, version string, when time.Time) error {
	folder, here := filepath.Join(work, "viewer"), filepath.Join(work, "here.exe")
	if err := command(nil, "go", "build", "-trimpath", "-buildvcs=true", "-o", here, "./cmd/rollscope"); err != nil {
		return err
	}
	for _, place := range []string{folder, filepath.Join(output, "rollscope_"+version+".html")} {
		if err := command(nil, here, "bundle", "-o", place); err != nil {
			return err
		}
	}
	name := "rollscope_" + version + "_viewer"
	var files []entry
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		inside, _ := filepath.Rel(folder, path)
		files = append(files, entry{name: name + "/" + filepath.ToSlash(inside), body: body})
		return err
	})
	if err != nil {
		return err
	}
	return archive(filepath.Join(output, name+".zip"), zipped, files, when)
}

// sums writes the checksums of the folder's files in the form that sha256sum reads.
func sums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		body, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(body), e.Name()))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	text := strings.Join(lines, "")
	fmt.Print(text)
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(text), 0o644)
}

// command runs a program at the top of the project.
func command(environment []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// said gives what a program prints.
func said(name string, args ...string) (string, error) { return saidIn(nil, name, args...) }

func saidIn(environment []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
