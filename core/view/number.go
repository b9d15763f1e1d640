package view

import (
	"math"
	"strconv"
	"strings"
)

// Dash stands for a value that is missing.
const Dash = "–"

// Group writes a whole number with thousands separators.
func Group[T int | int32 | int64](n T) string { return groupText(strconv.FormatInt(int64(n), 10)) }

// groupText puts separators into the digits of a decimal integer.
func groupText(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// groupNumber is groupText for JSON numbers; anything but a plain integer stays as written.
func groupNumber(text string) string {
	for i, c := range text {
		if (c < '0' || c > '9') && !(i == 0 && c == '-') {
			return text
		}
	}
	return groupText(text)
}

// count writes a number with its unit in the right form.
func count[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Group(n) + " " + many
}

// percent writes a share with three decimals, "–" of nothing.
func percent(part, whole int) string {
	if whole == 0 {
		return Dash
	}
	return strconv.FormatFloat(float64(part)*100/float64(whole), 'f', 3, 64) + " %"
}

// share is a part of a whole between 0 and 1.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Bytes writes a size in the largest unit that keeps it above one, with two decimals; powers of ten, as
// file managers and disks have them.
func Bytes(n int64) string {
	const units = "kMGTP"
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f := float64(n)
	unit := -1
	for f >= 1000 && unit < len(units)-1 {
		f /= 1000
		unit++
	}
	return strconv.FormatFloat(f, 'f', 2, 64) + " " + units[unit:unit+1] + "B"
}

// niceMax rounds a maximum up to one, two or five times a power of ten, for the scale of a bar.
func niceMax(f float64) float64 {
	if f <= 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(f)))
	for _, step := range [...]float64{1, 2, 2.5, 5} {
		if f <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// fixed writes a float with a number of decimals.
func fixed(f float64, decimals int) string { return strconv.FormatFloat(f, 'f', decimals, 64) }

// trimZeros writes a float with at most three decimals and none that are not needed.
func trimZeros(f float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 3, 64), "0"), ".")
}
