package view

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rollscope/rollscope/core/trajectory/lax"
)

// groupFixed writes a float with some decimals and separators.
func groupFixed(f float64, decimals int) string {
	text := fixed(f, decimals)
	whole, fraction, point := strings.Cut(text, ".")
	if point {
		return groupText(whole) + "." + fraction
	}
	return groupText(whole)
}

// shortest is a double as JSON writes it with the fewest digits.
func shortest(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// utc gives a time in Unix seconds; ok is false where no calendar has it.
func utc(unix float64) (time.Time, bool) {
	if !(math.Abs(unix) < 1<<40) {
		return time.Time{}, false
	}
	t := time.UnixMilli(int64(math.Round(unix * 1000))).UTC()
	return t, t.Year() >= 1 && t.Year() <= 9999
}

// clockText writes a time in Unix seconds: the day as well where dated is set.
func clockText(unix float64, dated bool) string {
	t, ok := utc(unix)
	switch {
	case !ok:
		return trimZeros(unix)
	case dated:
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("15:04:05")
}

// windowText writes a stretch of time in Unix seconds, with the days where it begins and ends on different ones.
func windowText(from, to float64) string {
	a, known := utc(from)
	b, ok := utc(to)
	dated := known && ok && a.Truncate(24*time.Hour) != b.Truncate(24*time.Hour)
	return clockText(from, dated) + " – " + clockText(to, dated) + " UTC"
}

// clockCell shows a time in Unix seconds.
func clockCell(at lax.Real) Cell {
	if !at.Set {
		return missingCell("the time was not noted")
	}
	exact := shortest(at.Value)
	return Cell{Text: Text{Text: clockText(at.Value, true), Title: exact + " s since 1970"}, Exact: exact}
}

// spanText writes a duration in seconds as a clock does, short ones with decimals: "0.75 s", "3:16", "5:45:55".
func spanText(seconds float64) string {
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0) || seconds >= 1e12:
		return strconv.FormatFloat(seconds, 'g', 6, 64) + " s"
	case seconds < 60:
		return fixed(seconds, 2) + " s"
	}
	n := int64(math.Round(seconds))
	two := func(n int64) string {
		if n < 10 {
			return "0" + strconv.FormatInt(n, 10)
		}
		return strconv.FormatInt(n, 10)
	}
	if n < 3600 {
		return strconv.FormatInt(n/60, 10) + ":" + two(n%60)
	}
	return Group(n/3600) + ":" + two(n/60%60) + ":" + two(n%60)
}
