package cloudtest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// secret is the token that lets machines join. It is a part of the bootstrap data, which reaches the cloud and nothing else.
const (
	secret    = "abcdef.0123456789fedcba"
	bootstrap = "#cloud-config\nruncmd: [\"kubeadm join 10.0.0.1:6443 --token " + secret + "\"]\n"
)

// maxHold is the longest that a call may hold its caller: a few requests, of which one gets no reply.
const maxHold = 30 * time.Second

// watched is a driver under what holds at every moment, whatever the case is about: it does not wait, it does not write when
// it observes, and it never shows what machines boot with.
type watched[S any] struct {
	cloud.Driver[S]
	t        T
	cloud    Cloud
	declared declared
}

// Observe looks, and holds the driver to the contract.
func (w watched[S]) Observe(ctx context.Context, target cloud.Target[S]) (pool.Observed, error) {
	w.t.Helper()
	began, written := time.Now(), w.written()
	o, err := w.Driver.Observe(ctx, target)
	w.judge("observe", began, err)
	if n := w.written() - written; n > 0 {
		w.t.Errorf("observe: want nothing written, got %d writes", n)
	}
	for _, shown := range w.declared.undeclared(o) {
		w.t.Errorf("observe: want nothing shown that neither the traits nor the cloud declare, got %s", shown)
	}
	if text, jsonErr := json.Marshal(o); jsonErr != nil || leaks(string(text)) || leaks(fmt.Sprintf("%+v %#v", o, o)) {
		w.t.Errorf("observe: want no bootstrap data in an observation, and one that can be written down (%v), got %+v", jsonErr, o)
	}
	return o, err
}

// Start begins a step, and holds the driver to the contract.
func (w watched[S]) Start(ctx context.Context, target cloud.Target[S], s pool.Step) error {
	w.t.Helper()
	began := time.Now()
	err := w.Driver.Start(ctx, target, s)
	w.judge("start "+string(s.Kind), began, err)
	return err
}

func (w watched[S]) written() int { return w.cloud.Calls().Summary(math.MaxInt64).Mutating }

// judge looks at a call that has ended.
func (w watched[S]) judge(what string, began time.Time, err error) {
	w.t.Helper()
	if held := time.Since(began); held > maxHold {
		w.t.Errorf("%s: want the caller held for %s at most, got %s", what, maxHold, held)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if leaks(fmt.Sprintf("%s %+v %#v", e.Error(), e, e)) {
			w.t.Errorf("%s: want no bootstrap data in an error, got one in a %T", what, e)
		}
	}
}

// leaks reports whether a text contains the secret, as it is or in a reversible encoding.
func leaks(text string) bool {
	for _, form := range forms {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

// forms are the ways in which the secret may be written.
var forms = secretForms()

func secretForms() []string {
	numbers := make([]string, 0, len(secret))
	for _, b := range []byte(secret) {
		numbers = append(numbers, strconv.Itoa(int(b)))
	}
	list := []string{secret, hex.EncodeToString([]byte(secret)), strings.Join(numbers, " ")}
	// In base 64 a text looks different by where in a group of three bytes it begins; its ends are mixed with what is around.
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		list = append(list, text[(before*8+5)/6:len(text)-1])
	}
	return list
}
