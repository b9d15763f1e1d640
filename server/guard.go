package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rollscope/rollscope/web/bundle"
)

// fixed are the headers of every answer.
var fixed = [][2]string{
	{"Content-Security-Policy", bundle.Policy(bundle.Served, nil, nil)},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		for _, f := range fixed {
			h.Set(f[0], f[1])
		}
		return next(c)
	}
}

// onlyReads refuses what a server that only hands out does not take.
func onlyReads(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			c.Response().Header().Set("Allow", "GET, HEAD")
			return refuse(http.StatusMethodNotAllowed, "only GET and HEAD are answered")
		}
		if r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
			// The body is not read, so the connection cannot be used again.
			c.Response().Header().Set("Connection", "close")
			return refuse(http.StatusRequestEntityTooLarge, "a request has no body here")
		}
		return next(c)
	}
}

// sameSite refuses requests that a page of another site makes. Browsers say so in Sec-Fetch-Site; a request
// without it comes from no current browser, and its answer could not be read across sites in an older one.
func sameSite(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		switch site := r.Header.Get("Sec-Fetch-Site"); site {
		case "", "same-origin", "none": // none: a person typed the address
		default:
			return refuse(http.StatusForbidden, "data is handed to this server's own page only")
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			_, host, ok := strings.Cut(origin, "://")
			if !ok || !strings.EqualFold(host, r.Host) {
				return refuse(http.StatusForbidden, "data is handed to this server's own page only")
			}
		}
		return next(c)
	}
}

// hosts are the names under which the server may be asked.
type hosts map[string]bool

func newHosts(extra []string) (hosts, error) {
	allowed := hosts{"localhost": true, "127.0.0.1": true, "::1": true}
	for _, given := range extra {
		name, ok := hostname(given)
		if !ok {
			return nil, fmt.Errorf("%q is no host name", given)
		}
		allowed[name] = true
	}
	return allowed, nil
}

// guard refuses requests under any other name: a foreign name that resolves to this machine would make a foreign
// page and this server one origin. The address a connection arrived at is always fine, since a page under it was
// sent from it.
func (h hosts) guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		name, ok := hostname(r.Host)
		if !ok || !h[name] && !arrivedAt(r, name) {
			return refuse(http.StatusMisdirectedRequest, "this server does not answer for the host of the request; --allow-host adds one")
		}
		return next(c)
	}
}

func arrivedAt(r *http.Request, name string) bool {
	asked, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == asked.Unmap().WithZone("")
}

// hostname gives the host of a "host" or "host:port" in the form the table has: lower case, no port, brackets or
// final dot.
func hostname(text string) (name string, ok bool) {
	name = text
	switch {
	case strings.HasPrefix(text, "["):
		inside, port, closed := strings.Cut(text[1:], "]")
		if !closed || port != "" && !isPort(port) {
			return "", false
		}
		addr, err := netip.ParseAddr(inside)
		if err != nil || !addr.Is6() {
			return "", false
		}
		return addr.String(), true
	case strings.Count(text, ":") == 1:
		at := strings.IndexByte(text, ':')
		if !isPort(text[at:]) {
			return "", false
		}
		name = text[:at]
	case strings.Contains(text, ":"):
		// An address without brackets can be given as a flag.
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return "", false
		}
		return addr.String(), true
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" {
		return "", false
	}
	return name, true
}

// isPort tells whether text is a colon and a port number.
func isPort(text string) bool {
	return len(text) >= 2 && len(text) <= 6 && text[0] == ':' && strings.Trim(text[1:], "0123456789") == ""
}
