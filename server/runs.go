package server

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// A Run is an entry of the list of runs: files that are looked at together.
type Run struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Size  int64  `json:"size"` // sum of its files
	URL   string `json:"url"`  // where its files are listed
	Files []File `json:"-"`
}

// A File is one file of a run.
type File struct {
	ID   string `json:"id"`
	Path string `json:"path"` // the name it has in reports
	Size int64  `json:"size"`
	Tag  string `json:"tag"` // ETag of the state that was listed; If-Match with it gives 412 once the file has changed
	URL  string `json:"url"`
	Copy int    `json:"copy,omitempty"` // how often another file has taken its place since the server started, see [Followed]
}

// A Shelf holds the runs that are handed out. Errors are [fs.ErrNotExist] for whatever is not.
type Shelf interface {
	// List gives the runs as they are now; more tells that there are too many to list.
	List(ctx context.Context) (list []Run, more bool, err error)
	// Run gives one run by its id.
	Run(ctx context.Context, run string) (Run, error)
	// Open opens a file by the ids of its run and of itself.
	Open(run, file string) (*os.File, fs.FileInfo, error)
}

// newRun makes a run of its files.
func newRun(id, name string, files []File) Run {
	run := Run{ID: id, Name: name, URL: runURL(id), Files: files}
	for _, f := range files {
		run.Size += f.Size
	}
	return run
}

func newFile(run, id, path string, info fs.FileInfo) File {
	return File{ID: id, Path: path, Size: info.Size(), Tag: tag(info), URL: fileURL(run, id)}
}

// runs answers the routes of data.
type runs struct{ shelf Shelf }

func (r *runs) list(c echo.Context) error {
	list, more, err := r.shelf.List(c.Request().Context())
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	if more {
		h.Set("X-More", "true")
	}
	return c.JSON(http.StatusOK, append([]Run{}, list...))
}

func (r *runs) files(c echo.Context) error {
	run, err := r.shelf.Run(c.Request().Context(), c.Param("run"))
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(http.StatusNotFound, "there is no such run")
	} else if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, append([]File{}, run.Files...))
}

func (r *runs) file(c echo.Context) error {
	f, info, err := r.shelf.Open(c.Param("run"), c.Param("file"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return refuse(http.StatusNotFound, "there is no such file")
	} else if err != nil {
		return err
	}
	defer f.Close()
	h := c.Response().Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("ETag", tag(info))
	// Whatever a file holds, it is never shown as a page of this origin.
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	req := oneRange(c.Request())
	if last, ok := strings.CutPrefix(req.Header.Get("Range"), "bytes=-"); ok && strings.Trim(last, "0 ") == "" && info.Size() > 0 {
		// ServeContent would call the last no bytes a range.
		h.Set("Content-Range", "bytes */"+strconv.FormatInt(info.Size(), 10))
		return refuse(http.StatusRequestedRangeNotSatisfiable, "the range holds no byte")
	}
	http.ServeContent(newPaced(c.Response()), req, "", info.ModTime(), f)
	return nil
}

// tag names one state of a file.
func tag(info fs.FileInfo) string {
	return `"` + strconv.FormatInt(info.Size(), 16) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 16) + `"`
}

func runURL(run string) string        { return "/runs/" + run }
func fileURL(run, file string) string { return runURL(run) + "/" + file }
