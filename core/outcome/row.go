package outcome

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/value"
)

// Seconds converts a saved elapsed time (spec records §6, perf §4): a number, a bool or a numeric text above 0. ok is
// false for everything else. It may be infinite.
func Seconds(v jsonscan.Value) (seconds float64, ok bool) {
	switch v.Kind() {
	case jsonscan.Int, jsonscan.Float:
		seconds, _ = v.Float()
	case jsonscan.Bool:
		if v.Truthy() {
			seconds = 1
		}
	case jsonscan.String:
		seconds, ok = parseFloat(v.Text())
		if !ok {
			return 0, false
		}
	}
	if !(seconds > 0) { // NaN as well
		return 0, false
	}
	return seconds, true
}

// parseFloat reads a float as the reference's language does.
func parseFloat(text string) (float64, bool) {
	text = strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F })
	var b strings.Builder
	last := rune(0) // '0' stands for any digit
	for i, r := range text {
		digit := decimal(r)
		switch {
		case digit >= 0:
			b.WriteByte('0' + byte(digit))
			r = '0'
		case r == '_':
			// An underscore stands between two digits.
			if last != '0' || !startsWithDigit(text[i+1:]) {
				return 0, false
			}
		case r < 0x80:
			b.WriteRune(unicode.ToLower(r))
		default:
			return 0, false
		}
		last = r
	}
	plain := b.String()
	switch unsigned := strings.TrimLeft(plain, "+-"); {
	case unsigned == "inf", unsigned == "infinity", unsigned == "nan":
		if len(plain)-len(unsigned) > 1 {
			return 0, false
		}
	case strings.ContainsFunc(plain, func(r rune) bool { return !strings.ContainsRune("+-.0123456789e", r) }):
		return 0, false
	}
	f, err := strconv.ParseFloat(plain, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func startsWithDigit(s string) bool {
	for _, r := range s {
		return decimal(r) >= 0
	}
	return false
}

// decimal is the value of a decimal digit of any script, or −1.
func decimal(r rune) int {
	if r < 0x80 {
		if '0' <= r && r <= '9' {
			return int(r - '0')
		}
		return -1
	}
	// Decimal digits come in runs of ten from zero on.
	for _, run := range unicode.Nd.R16 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return int(r-rune(run.Lo)) % 10
		}
	}
	for _, run := range unicode.Nd.R32 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return int(r-rune(run.Lo)) % 10
		}
	}
	return -1
}

// Elapsed finds the elapsed time of a row. crash names the member at whose shape the reference stops: response or
// response.metadata, truthy and no object.
func Elapsed(elapsed, response jsonscan.Value) (seconds float64, crash string) {
	seconds, ok := Seconds(elapsed)
	if !response.IsObject() {
		if response.Truthy() {
			return 0, "response"
		}
		return seconds, ""
	}
	metadata := response.Get("metadata")
	switch {
	case !metadata.IsObject() && metadata.Truthy():
		return 0, "response.metadata"
	case !ok:
		seconds, _ = Seconds(metadata.Get("elapsed_seconds"))
	}
	return seconds, ""
}

// Odd tells whether a completed result has a shape that the collector would not have taken (spec outcomes §1.2).
func Odd(response, reward, executeOnly, taskID jsonscan.Value) bool {
	numeric := reward.Kind() == jsonscan.Int || reward.Kind() == jsonscan.Float // the readers of rows have finite numbers alone
	if taskID.IsObject() {
		return reward.Exists() && !numeric
	}
	if !response.IsObject() {
		return true
	}
	if !reward.Exists() {
		only, _ := executeOnly.Truth()
		return !only
	}
	return !numeric
}

// Reason is the first text of a failure row that explains it and is not empty; empty if there is none. record is the
// structured failure as saved, whatever it is.
func Reason(record, message, err, errorMessage jsonscan.Value) string {
	for _, v := range []jsonscan.Value{record.Get("failure").Get("failure_reason"), message, err, errorMessage} {
		if text := v.Text(); text != "" {
			return text
		}
	}
	return ""
}

// Migrated tells whether a row of the rollouts file and a stored failure of the same attempt are the two halves that a
// judge migration leaves when it is interrupted (spec outcomes §6.2).
func Migrated(result, failure value.Value) bool {
	exactly, _ := failure.Get("_ng_migrated_invalid_judge_response").Truth()
	if !result.Get("invalid_judge_response").Truthy() || !result.Get("_ng_failure_class").IsNull() || !exactly ||
		!failure.Get("_ng_failure_class").Is("judge_invalid") || failure.Get("_ng_failure_terminal").Exists() {
		return false
	}
	strip := func(v value.Value) value.Value {
		return v.Without("_ng_failure_class", "_ng_failure_terminal", "reuse_cached_deliverable", "_ng_migrated_invalid_judge_response")
	}
	return value.Equal(strip(result), strip(failure))
}
