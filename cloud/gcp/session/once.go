package session

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
)

const (
	// attemptsMost bounds how many failed attempts of one request are passed over. Compute Engine forgets the IDs of requests after an hour.
	attemptsMost = 16
	// requestDigits is how many hex digits the ID of a request has.
	requestDigits = 32
)

// Once sends a request that must not be carried out twice, with an ID by which Compute Engine knows it again: it answers a repeated one with
// the operation that it began before, and does nothing. What tells requests apart is what they do and to what. An operation that has failed did
// nothing, and would be the answer for an hour: the request is then sent with another ID. The operation that is returned may have failed.
func Once(send func(id string) (*compute.Operation, error), what ...string) (*compute.Operation, error) {
	for attempt := 0; ; attempt++ {
		op, err := send(requestID(what, attempt))
		if err != nil || Failed(op) == nil || attempt+1 == attemptsMost {
			return op, err
		}
	}
}

// requestID returns the UUID of an attempt at a request.
func requestID(what []string, attempt int) string {
	d := cloud.Digest([]byte(strings.Join(append(slices.Clone(what), strconv.Itoa(attempt)), "\n")), requestDigits)
	return strings.Join([]string{d[:8], d[8:12], d[12:16], d[16:20], d[20:]}, "-")
}
