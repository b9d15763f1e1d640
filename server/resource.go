package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/rollscope/rollscope/web/bundle"
)

// A resource is one file in its forms.
type resource struct {
	media string
	forms []form // the smallest first, the plain one last
}

type form struct {
	coding string // as in Content-Encoding, "" for the plain form
	body   []byte
	tag    string
}

// worthPacking is the size from which a file is sent packed.
const worthPacking = 1 << 10

func newResource(f bundle.File) (*resource, error) {
	sum := sha256.Sum256(f.Body)
	hash := hex.EncodeToString(sum[:12])
	r := &resource{media: f.Type}
	if f.Gzip == nil && len(f.Body) >= worthPacking {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Body); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		f.Gzip = b.Bytes()
	}
	for _, p := range []form{{"br", f.Brotli, ""}, {"gzip", f.Gzip, ""}} {
		if p.body != nil && len(p.body) < len(f.Body) {
			p.tag = `"` + hash + "-" + p.coding + `"`
			r.forms = append(r.forms, p)
		}
	}
	r.forms = append(r.forms, form{"", f.Body, `"` + hash + `"`})
	return r, nil
}

func (s *Site) asset(c echo.Context) error {
	r := s.assets[strings.TrimPrefix(c.Request().URL.Path, "/")]
	if r == nil {
		return refuse(http.StatusNotFound, "there is no such asset")
	}
	return r.send(c)
}

// send answers with the smallest form the browser takes. Names are stable, so every use asks whether the file is
// still the same; the tag answers that without sending it again.
func (r *resource) send(c echo.Context) error {
	f := r.forms[len(r.forms)-1]
	accepted := c.Request().Header.Values("Accept-Encoding")
	for _, candidate := range r.forms {
		if candidate.coding != "" && accepts(accepted, candidate.coding) {
			f = candidate
			break
		}
	}
	h := c.Response().Header()
	h.Set("Content-Type", r.media)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if f.coding != "" {
		h.Set("Content-Encoding", f.coding)
	}
	req := oneRange(c.Request())
	if f.coding != "" {
		// Ranges of a packed form are of no use to anybody.
		req = withoutRange(req)
		h.Set("Content-Length", strconv.Itoa(len(f.body)))
	}
	http.ServeContent(newPaced(c.Response()), req, "", time.Time{}, bytes.NewReader(f.body))
	return nil
}

// accepts tells whether Accept-Encoding names a coding with a weight above 0.
func accepts(values []string, coding string) bool {
	star := false
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			name, params, _ := strings.Cut(item, ";")
			name = strings.ToLower(strings.TrimSpace(name))
			if name != coding && name != "*" {
				continue
			}
			wanted := weight(params) > 0
			if name == coding {
				return wanted
			}
			star = wanted
		}
	}
	return star
}

// weight reads the parameter q; a weight that cannot be read counts as refusal.
func weight(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || q != q {
				return 0
			}
			return q
		}
	}
	return 1
}
