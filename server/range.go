package server

import (
	"math"
	"net/http"
	"strconv"
	"strings"
)

// oneRange gives a request whose Range header http.ServeContent reads as RFC 9110, section 14, has it. That
// function refuses numbers that no int64 holds, where a last byte behind the end means the end, and every unit that
// is not spelled "bytes", where a unit that is not known means no range at all. Of many ranges, which may be ignored,
// the whole is sent: nobody here asks for them.
func oneRange(r *http.Request) *http.Request {
	header := r.Header.Get("Range")
	unit, ranges, ok := strings.Cut(header, "=")
	if !ok {
		return r
	}
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") || strings.Contains(ranges, ",") {
		return withoutRange(r)
	}
	if first, last, ok := strings.Cut(ranges, "-"); ok {
		ranges = saturated(first) + "-" + saturated(last)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Range", "bytes="+ranges)
	return r
}

// saturated writes digits that stand for more than any file has as the largest number.
func saturated(digits string) string {
	digits = strings.TrimSpace(digits)
	if digits != "" && strings.Trim(digits, "0123456789") == "" {
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			return strconv.FormatInt(math.MaxInt64, 10)
		}
	}
	return digits
}

func withoutRange(r *http.Request) *http.Request {
	if r.Header.Get("Range") == "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	return r
}
