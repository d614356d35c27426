package cloudtest

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/muster-project/muster/cloud"
)

// RunMistakes shows that the contract can fail: it makes the mistakes that authors of drivers make, one at a time, with the
// suite's own driver and cloud, and wants each noticed by the case that is there for it.
func (s Suite[S]) RunMistakes(t *testing.T) {
	var d declared
	synctest.Test(t, func(t *testing.T) { d = s.declared(t) })
	for _, m := range mistakes[S]() {
		if !s.requests(d, exercise[S]{kind: m.about, name: m.in}) || m.onBase && s.TemplateName != nil ||
			m.guard == caseTaken && !d.takes {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, ok := caseNamed[S](m.guard)
				if !ok {
					t.Fatalf("want a case %q, got none of that name", m.guard)
				}
				noticed := s.with(m).failures(t.Context(), c)
				if len(noticed) == 0 {
					t.Errorf("want the mistake noticed by the case %q, got no failure", m.guard)
				}
			})
		})
	}
}

// caseNamed finds a case.
func caseNamed[S any](name string) (Case[S], bool) {
	for _, c := range Cases[S]() {
		if c.Name == name {
			return c, true
		}
	}
	return Case[S]{}, false
}

// with is the suite with a driver that makes the mistake.
func (s Suite[S]) with(m mistake[S]) Suite[S] {
	right := s.Driver
	s.Driver = func(wire http.RoundTripper) (cloud.Driver[S], error) {
		if m.wire != nil {
			wire = m.wire(wire)
		}
		d, err := right(wire)
		if err != nil || m.driver == nil {
			return d, err
		}
		return m.driver(d), nil
	}
	return s
}

// failures returns the failures that a case reports.
func (s Suite[S]) failures(ctx context.Context, c Case[S]) []string {
	r := &recorder{ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Play(r, c)
	}()
	<-ended
	return r.list
}

// recorder is a test whose failure is not shown. It ends with the first failure.
type recorder struct {
	ctx  context.Context
	list []string
}

func (r *recorder) Helper() {}

func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) Errorf(format string, args ...any) {
	r.list = append(r.list, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }
