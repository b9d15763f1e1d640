package modelcall

import (
	"slices"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// The error categories (spec model-calls §7).
const (
	CategoryTimeout     = "timeout"
	CategoryRateLimit   = "rate_limit"
	CategoryAuth        = "auth"
	CategoryNotFound    = "not_found"
	CategoryClient      = "client_error"
	CategoryUpstream    = "upstream_error"
	CategoryIncomplete  = "incomplete"
	CategoryTruncated   = "stream_truncated"
	CategoryParse       = "capture_parse_error"
	CategoryCancelled   = "cancelled"
	CategoryConnection  = "connection"
	CategoryException   = "exception"
	CategoryContext     = "context_length_exceeded"
	categoryNone        = "" // null
	reasonContextLength = "context_length_exceeded"
)

// Categories lists the known ones with what they mean.
var Categories = []struct{ ID, Title string }{
	{CategoryTimeout, "timed out"},
	{CategoryRateLimit, "refused for the rate limit"},
	{CategoryAuth, "not authorised"},
	{CategoryNotFound, "no such model or path"},
	{CategoryClient, "the request was refused"},
	{CategoryUpstream, "the server failed"},
	{CategoryIncomplete, "the stream ended before the answer was complete"},
	{CategoryTruncated, "the stream broke off"},
	{CategoryParse, "the answer was no JSON object"},
	{CategoryCancelled, "cancelled by the caller"},
	{CategoryConnection, "the connection failed"},
	{CategoryException, "another exception"},
	{CategoryContext, "longer than the model's context"},
}

// KnownCategory tells whether a category is one of the list.
func KnownCategory(id string) bool {
	for _, c := range Categories {
		if c.ID == id {
			return true
		}
	}
	return false
}

// StatusClass is the category that a status alone decides, "" where it decides nothing.
func StatusClass(status integer.Int) string {
	n, small := status.Int64()
	if !small {
		if status.Sign() < 0 {
			return categoryNone
		}
		return CategoryUpstream
	}
	switch {
	case n < 400:
		return categoryNone
	case n == 408 || n == 504:
		return CategoryTimeout
	case n == 429:
		return CategoryRateLimit
	case n == 401 || n == 403:
		return CategoryAuth
	case n == 404:
		return CategoryNotFound
	case n < 500:
		return CategoryClient
	}
	return CategoryUpstream
}

// AllowedCategories are those that a line can have by the evidence it holds itself; "" is null.
func (c *Call) AllowedCategories() []string {
	if c.LocalResponseReason.Is(reasonContextLength) {
		return []string{CategoryContext}
	}
	if c.StatusCode.Set {
		if class := StatusClass(c.StatusCode.Int); class != categoryNone {
			return []string{class}
		}
	}
	exceptions := []string{CategoryTimeout, CategoryConnection, CategoryCancelled, CategoryException}
	terminal := NotEnded
	if c.ResponseRaw.Exists() {
		terminal = TerminalOf(c.Dialect.String(), c.ResponseRaw.Text())
	}
	ended := [...]string{CategoryTruncated, categoryNone, CategoryIncomplete, CategoryUpstream}[terminal]
	object, raw := c.Response.Kind() == jsonscan.Object, c.ResponseRaw.Exists()
	switch {
	case object && !raw:
		return []string{categoryNone}
	case object:
		return []string{ended}
	case !raw:
		return append([]string{categoryNone, CategoryTruncated}, exceptions...)
	}
	allowed := append([]string{CategoryParse}, exceptions...)
	if terminal != Complete {
		allowed = append(allowed, ended)
	}
	return allowed
}

// CategoryFits tells whether the category of a line is one of those that its evidence allows. Categories of newer
// writers and streams of unknown dialects fit always.
func (c *Call) CategoryFits() bool {
	category := c.ErrorCategory.String()
	if c.ErrorCategory.Set && !KnownCategory(category) {
		return true
	}
	if _, known := terminals[c.Dialect.String()]; !known && c.ResponseRaw.Exists() {
		return true // how such a stream ends is not known
	}
	return slices.Contains(c.AllowedCategories(), category)
}
