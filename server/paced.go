package server

import (
	"net/http"
	"time"
)

// paced ends an answer whose reader has stopped reading, however long the answer is.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newPaced(w http.ResponseWriter) *paced {
	return &paced{w, http.NewResponseController(w)}
}

func (p *paced) Write(b []byte) (int, error) {
	// A writer without deadlines (a recorder in a test) cannot stall either.
	_ = p.control.SetWriteDeadline(time.Now().Add(stallTimeout))
	return p.ResponseWriter.Write(b)
}

func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
