package nodegroup

import (
	"errors"
	"testing"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
)

// A request that was sent with a token does not prevent another request with the next one.
func TestTokensThatMadeSomethingElseAreSpent(t *testing.T) {
	for _, c := range []struct {
		reason string
		err    error
		want   bool
	}{
		{"it was made", nil, false},
		{"other arguments, in EC2's words, which EKS passes on", &cloud.Error{Kind: cloud.Invalid, Code: "InvalidRequestException",
			Message: "Arguments on this idempotent request are inconsistent with arguments used in previous request(s)."}, true},
		{"other arguments, in EKS's words", &cloud.Error{Kind: cloud.Invalid, Code: "InvalidRequestException",
			Message: "the client request token was used before"}, true},
		{"another refusal", &cloud.Error{Kind: cloud.Invalid, Code: "InvalidParameterException", Message: "no such subnet"}, false},
		{"keys that have ended, whose token is another", &cloud.Error{Kind: cloud.Denied, Code: "ExpiredTokenException",
			Message: "The security token included in the request is expired"}, false},
		{"no answer", errors.New("connection reset"), false},
	} {
		if got := spent(c.err); got != c.want {
			t.Errorf("%s: want %t, got %t", c.reason, c.want, got)
		}
	}
}

// A deletion may fail and be tried again between two looks: the next pause begins with the failure that was last.
func TestTheLastFailedDeletionCounts(t *testing.T) {
	start := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	m := &memory{}
	for _, look := range []struct {
		reason  string
		now     time.Time
		status  ekstypes.NodegroupStatus
		changed *time.Time
		want    time.Time
	}{
		{"nothing has failed", at(0), ekstypes.NodegroupStatusActive, new(at(0)), time.Time{}},
		{"the group says when", at(5), ekstypes.NodegroupStatusDeleteFailed, new(at(4)), at(4)},
		{"it is the same failure", at(9), ekstypes.NodegroupStatusDeleteFailed, new(at(4)), at(4)},
		{"another one, whose deletion was not observed", at(11), ekstypes.NodegroupStatusDeleteFailed, new(at(10)), at(10)},
		{"a clock that is ahead of Muster's", at(12), ekstypes.NodegroupStatusDeleteFailed, new(at(13)), at(10)},
		{"it is being deleted", at(14), ekstypes.NodegroupStatusDeleting, new(at(14)), time.Time{}},
		{"the group does not say when", at(16), ekstypes.NodegroupStatusDeleteFailed, nil, at(16)},
	} {
		m.noteFailure(&ekstypes.Nodegroup{Status: look.status, ModifiedAt: look.changed}, look.now)
		if !m.deleteFailed.Equal(look.want) {
			t.Errorf("%s: want a failed deletion at %s, got %s", look.reason, look.want, m.deleteFailed)
		}
	}
}
