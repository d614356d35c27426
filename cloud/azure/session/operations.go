package session

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud"
)

// Poller is what a client's Begin methods give.
type Poller interface {
	Done() bool
	ResumeToken() (string, error)
}

// Hint returns the token by which an operation that was begun can be read again, also by another process; not ok when it has ended
// already, or has none. It is worth a request for the text of a failure, and nothing else. Of the SDK's token it keeps the one address that
// Poll uses: Azure signs addresses, which makes each more than 3,000 characters long, and the token is kept in the status of an object.
func Hint(p Poller) (token string, ok bool) {
	if p == nil || p.Done() {
		return "", false
	}
	token, err := p.ResumeToken()
	if at := addressOf(token); err == nil && at != "" {
		token = tokenOf(at)
	}
	return token, err == nil && token != ""
}

// tokenOf returns the token of an operation with an address, in the form in which the SDK keeps it.
func tokenOf(at string) string {
	token, err := json.Marshal(map[string]any{"token": map[string]string{"asyncURL": at}})
	if err != nil {
		return ""
	}
	return string(token)
}

// Outcome is what one look at an operation has shown.
type Outcome struct {
	// Done is true if it has ended, or nothing is known of it any more.
	Done bool
	// Failed is why it has failed; nil where it has not, or not yet.
	Failed *cloud.Error
}

// Poll looks once at the operation of a hint, and waits for nothing. The token may have been changed by any client that may write the
// object that remembers it: it leads to Azure Resource Manager or nowhere.
func (s *Session) Poll(ctx context.Context, token string, now time.Time) (Outcome, error) {
	at := addressOf(token)
	if at == "" {
		return Outcome{Done: true}, nil
	}
	req, err := runtime.NewRequest(ctx, http.MethodGet, at)
	if err != nil {
		// It is no address: nothing is known of the operation.
		return Outcome{Done: true}, nil
	}
	reply, err := s.arm.Pipeline().Do(req)
	if err != nil {
		return Outcome{}, Refusal(err, now)
	}
	// The SDK has read it already.
	defer func() { _ = reply.Body.Close() }()
	if !runtime.HasStatusCode(reply, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent) {
		err := Refusal(runtime.NewResponseError(reply), now)
		if Absent(err) || reply.StatusCode == http.StatusGone {
			return Outcome{Done: true}, nil
		}
		return Outcome{}, err
	}
	return s.outcome(reply)
}

// outcome reads what has become of an operation.
func (s *Session) outcome(reply *http.Response) (Outcome, error) {
	body, err := runtime.Payload(reply)
	if err != nil {
		return Outcome{}, &cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply, Message: "the reply on an operation can't be read"}
	}
	var is struct {
		Status     string `json:"status"`
		Properties struct {
			State string `json:"provisioningState"`
		} `json:"properties"`
	}
	// A body that is no object has no state: the status of the reply is all there is.
	_ = json.Unmarshal(body, &is)
	state := is.Status
	if state == "" {
		state = is.Properties.State
	}
	switch strings.ToLower(state) {
	case "":
		return Outcome{Done: reply.StatusCode != http.StatusAccepted}, nil
	case "succeeded", "completed":
		return Outcome{Done: true}, nil
	case "failed", "canceled", "cancelled":
		refused := &cloud.Error{Kind: cloud.Unavailable}
		said := readReply(body)
		if said.Code == "" {
			said.Code = state
		}
		said.classify(refused, 0)
		return Outcome{Done: true, Failed: byWhom(refused, s.identity)}, nil
	default:
		return Outcome{}, nil
	}
}

// addressOf returns the address of the operation in the SDK's token.
func addressOf(token string) string {
	var wrapped struct {
		Token struct {
			Async    string `json:"asyncURL"`
			Location string `json:"locURL"`
			Poll     string `json:"pollURL"`
		} `json:"token"`
	}
	if json.Unmarshal([]byte(token), &wrapped) != nil {
		return ""
	}
	for _, at := range []string{wrapped.Token.Async, wrapped.Token.Poll, wrapped.Token.Location} {
		if at != "" {
			return at
		}
	}
	return ""
}
