package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"github.com/rollscope/rollscope/server"
	"github.com/rollscope/rollscope/web"
	"github.com/rollscope/rollscope/web/bundle"
)

// kit loads the parts of the page. Without the module the error names the make target.
func (h *host) kit() (*bundle.Kit, error) { return bundle.Load(h.assets, web.Stylesheet()) }

// portsTried is how many ports behind a taken one are tried.
const portsTried = 50

// takenOnWindows is what Windows says of a port that is taken; the name that package syscall has for it elsewhere means
// nothing there.
const takenOnWindows = syscall.Errno(10048)

// listen listens at addr. With next, the next free port is taken where that one is not free.
func listen(addr string, next bool) (net.Listener, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usagef("--addr %s: want HOST:PORT", addr)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, usagef("--addr %s: want HOST:PORT with a port from 0 to 65535", addr)
	}
	if host == "" {
		// Every interface has to be asked for by its address.
		host = "127.0.0.1"
	}
	for tried := range uint64(portsTried) {
		var l net.Listener
		l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.FormatUint(port+tried, 10)))
		if err == nil {
			return l, nil
		}
		if !next || !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, takenOnWindows) || port+tried == 65535 {
			break
		}
	}
	return nil, fmt.Errorf("address: %w", err)
}

// address is what a browser on this machine is sent to.
func address(l net.Listener) string {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return "http://" + l.Addr().String() + "/"
	}
	name := at.IP.String()
	switch {
	case at.IP.IsUnspecified() && at.IP.To4() != nil:
		name = "127.0.0.1"
	case at.IP.IsUnspecified():
		name = "::1"
	}
	return "http://" + net.JoinHostPort(name, strconv.Itoa(at.Port)) + "/"
}

// serve answers requests until it is interrupted, which is how a server ends when all is well.
func (h *host) serve(ctx context.Context, l net.Listener, o server.Options) error {
	o.Log = log.New(h.err, "rollscope: ", 0)
	s, err := server.New(o)
	if err != nil {
		l.Close()
		return usagef("--allow-host: %w", err)
	}
	return s.Serve(ctx, l)
}

// browsers lists the programs that open an address, by operating system.
var browsers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// browse opens an address in a browser, if there is one. What the program prints is of no interest.
func browse(url string) error {
	command, known := browsers[runtime.GOOS]
	if !known {
		command = []string{"xdg-open"}
	}
	cmd := exec.Command(command[0], append(command[1:], url)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // so that no zombie is left
	return nil
}
