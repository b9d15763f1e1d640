package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// DefaultAddr is where the server listens unless it is told otherwise.
const DefaultAddr = "127.0.0.1:7410"

// Limits of one request.
const (
	maxHeader     = 16 << 10
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	// A write that makes no progress for this long ends the request; a slow reader of a large file is fine.
	stallTimeout = 30 * time.Second
	// Requests under way when the server is told to stop may take this long to end.
	graceTimeout = 3 * time.Second
)

// Options say what a server hands out and to whom.
type Options struct {
	Site       *Site       // nil: only data
	Runs       Shelf       // nil: none
	Choice     bool        // the page at / is a list of the runs instead of the site's page
	AllowHosts []string    // names or addresses that a request may name as its host, besides loopback and its own
	Log        *log.Logger // what goes wrong inside; nil for silence
}

// A Server answers requests.
type Server struct {
	echo *echo.Echo
	log  *log.Logger
}

// New makes a server. The error names a host that cannot be one.
func New(o Options) (*Server, error) {
	hosts, err := newHosts(o.AllowHosts)
	if err != nil {
		return nil, err
	}
	s := &Server{echo: echo.New(), log: o.Log}
	e := s.echo
	e.HTTPErrorHandler = s.fail
	e.Pre(s.recovered, headers, hosts.guard, onlyReads)

	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.HEAD("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	read := func(route string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) {
		e.GET(route, h, m...)
		e.HEAD(route, h, m...)
	}
	if o.Site != nil {
		read("/assets/*", o.Site.asset)
		if o.Choice && o.Runs != nil {
			p := &choice{o.Site, o.Runs}
			read("/", p.list)
			read(pageURL(":run"), p.run)
		} else {
			read("/", o.Site.document)
		}
	}
	if o.Runs != nil {
		runs := &runs{shelf: o.Runs}
		read("/runs", runs.list, sameSite)
		read(runURL(":run"), runs.files, sameSite)
		read(fileURL(":run", ":file"), runs.file, sameSite)
	}
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Serve answers requests on l until ctx ends. It lets requests under way end for a short while and returns nil
// then; l is closed in any case.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		// No ReadTimeout: there are no bodies, and it would end the context of a request that takes its time.
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       s.log,
	}
	if h.ErrorLog == nil {
		h.ErrorLog = log.New(io.Discard, "", 0)
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), graceTimeout)
	defer cancel()
	err := h.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.Close()
	}
	<-done
	if err != nil {
		return fmt.Errorf("stop %s: %w", l.Addr(), err)
	}
	return nil
}

// fail answers an error as one line of plain text.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status, text := http.StatusInternalServerError, "the server failed"
	var known *echo.HTTPError
	if errors.As(err, &known) {
		status, text = known.Code, fmt.Sprint(known.Message)
	} else if s.log != nil {
		s.log.Printf("%s %s: %v", c.Request().Method, c.Request().URL.Path, err)
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Del("ETag")
	h.Del("Content-Disposition")
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(status)
		return
	}
	_ = c.String(status, fmt.Sprintf("%d %s\n", status, text))
}

// recovered turns a panic of a handler into an answer, so that one request costs itself alone.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return next(c)
	}
}

// refuse is an error with a status and a sentence.
func refuse(status int, format string, args ...any) error {
	return echo.NewHTTPError(status, fmt.Sprintf(format, args...))
}
