package server

import (
	"errors"
	"io/fs"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/rollscope/rollscope/web/bundle"
)

// A Site is the page with its assets, ready to send.
type Site struct {
	kit    *bundle.Kit
	page   *resource
	assets map[string]*resource // by path without the leading slash
}

// NewSite prepares the page and the files it loads. The options say what the page opens by itself.
func NewSite(kit *bundle.Kit, o bundle.Options) (*Site, error) {
	s := &Site{kit: kit, assets: map[string]*resource{}}
	var err error
	if s.page, err = s.opening(o); err != nil {
		return nil, err
	}
	for _, f := range kit.Assets() {
		if s.assets[f.Name], err = newResource(f); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Site) opening(o bundle.Options) (*resource, error) {
	body, err := s.kit.Document(o)
	if err != nil {
		return nil, err
	}
	return newPage(body)
}

func newPage(body []byte) (*resource, error) {
	return newResource(bundle.File{Name: "index.html", Type: "text/html; charset=utf-8", Body: body})
}

func (s *Site) document(c echo.Context) error { return s.page.send(c) }

// choice is the page of the runs of a shelf that has several.
type choice struct {
	site  *Site
	shelf Shelf
}

// list links to the runs.
func (p *choice) list(c echo.Context) error {
	list, more, err := p.shelf.List(c.Request().Context())
	if err != nil {
		return err
	}
	l := bundle.Listing{More: more}
	for _, run := range list {
		l.Runs = append(l.Runs, bundle.ListedRun{Name: run.Name, Href: pageURL(run.ID), Files: len(run.Files), Size: run.Size})
	}
	body, err := p.site.kit.Listing(l)
	if err != nil {
		return err
	}
	return sendPage(c, body)
}

// run is the page of one run.
func (p *choice) run(c echo.Context) error {
	run, err := p.shelf.Run(c.Request().Context(), c.Param("run"))
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(http.StatusNotFound, "there is no such run")
	} else if err != nil {
		return err
	}
	body, err := p.site.kit.Document(bundle.Options{Runs: run.URL})
	if err != nil {
		return err
	}
	return sendPage(c, body)
}

func sendPage(c echo.Context, body []byte) error {
	r, err := newPage(body)
	if err != nil {
		return err
	}
	return r.send(c)
}

// pageURL is where a run of several is shown.
func pageURL(run string) string { return "/run/" + run }
