package e2e

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// A Sink is a server that hostile rows name and nobody may reach.
type Sink struct {
	URL  string // without a slash at its end
	mu   sync.Mutex
	hits []string
}

// NewSink starts one; a request that reaches it fails the test.
func NewSink(t testing.TB) *Sink {
	s := &Sink{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hits = append(s.hits, r.Method+" "+r.URL.String())
		w.Header().Set("Access-Control-Allow-Origin", "*") // nothing but the page's own policy is in the way
	}))
	s.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		for _, hit := range s.Hits() {
			t.Errorf("a request left: %s", hit)
		}
	})
	return s
}

// Hits lists the requests that arrived.
func (s *Sink) Hits() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hits)
}
