package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// top is the folder of the main module, seen from the folder of this one.
const top = "../.."

// module is what the page runs, inside the main module.
const module = "web/assets/built/rollscope.wasm"

// A Product is the command under test.
type Product struct{ Bin string }

// Build makes the command from the sources beside this module, and the page's module when it is missing or older
// than its sources. The command is put into folder.
func Build(folder string) (*Product, error) {
	stale, err := staleModule()
	if err != nil {
		return nil, err
	}
	if stale {
		if err := run("go", "run", "./web/build"); err != nil {
			return nil, err
		}
	}
	bin, err := filepath.Abs(filepath.Join(folder, "rollscope"))
	if err != nil {
		return nil, err
	}
	return &Product{bin}, run("go", "build", "-o", bin, "./cmd/rollscope")
}

// staleModule tells whether a source of the page's module is younger than the module.
func staleModule() (bool, error) {
	built, err := os.Stat(filepath.Join(top, module))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	} else if err != nil {
		return false, err
	}
	list := exec.Command("go", "list", "-deps", "-f",
		`{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./wasm")
	list.Dir = top
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return false, fmt.Errorf("sources of the module: %w", err)
	}
	for path := range strings.Lines(string(out) + filepath.Join(top, "go.mod")) {
		path = strings.TrimSpace(path)
		// What the page loads beside the module is embedded by the same package, but not linked into the module.
		if path == "" || strings.Contains(filepath.ToSlash(path), "/web/assets/") {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		if info.ModTime().After(built.ModTime()) {
			return true, nil
		}
	}
	return false, nil
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = top
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Run runs the command inside folder and gives what it printed and how it ended.
func (p *Product) Run(t testing.TB, folder string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, talk bytes.Buffer
	cmd := exec.CommandContext(t.Context(), p.Bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &talk
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("rollscope %s: %v", strings.Join(args, " "), err)
	}
	return out.String(), talk.String(), cmd.ProcessState.ExitCode()
}

// Start runs "view" or "serve" on a free port until the test ends and gives its address once it answers. The
// command runs inside folder.
func (p *Product) Start(t testing.TB, folder, command string, args ...string) string {
	t.Helper()
	url, stop, err := p.start(folder, command, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("rollscope %s: %v", command, err)
		}
	})
	return url
}

func (p *Product) start(folder, command string, args ...string) (url string, stop func() error, err error) {
	list := []string{command, "--addr", "127.0.0.1:0"}
	if command == "view" {
		list = append(list, "--no-open", "--print-url")
	}
	cmd := exec.Command(p.Bin, append(list, args...)...)
	cmd.Dir = folder
	// view prints the address and nothing else on standard output, serve a sentence on standard error.
	var pipe io.ReadCloser
	var talk bytes.Buffer
	if command == "view" {
		cmd.Stderr = &talk
		pipe, err = cmd.StdoutPipe()
	} else {
		pipe, err = cmd.StderrPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, fmt.Errorf("rollscope %s: %w", command, err)
	}
	lines := bufio.NewReader(pipe)
	line, err := lines.ReadString('\n')
	drained := make(chan struct{})
	go func() { // a full pipe would stop the command
		_, _ = io.Copy(io.Discard, lines)
		close(drained)
	}()
	stop = func() error {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			return err
		}
		<-drained
		return cmd.Wait()
	}
	if at := strings.Index(line, "http://"); at >= 0 {
		url, _, _ = strings.Cut(strings.TrimSpace(line[at:]), ";")
	}
	if url == "" {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
		return "", nil, fmt.Errorf("rollscope %s printed no address: %q %v %s", command, line, err, talk.String())
	}
	if err := healthy(url); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return url, stop, nil
}

// healthy asks a server that listens already whether it answers.
func healthy(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"healthz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%shealthz: %s", url, response.Status)
	}
	return nil
}
