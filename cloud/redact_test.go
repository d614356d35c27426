package cloud_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
)

func TestHide(t *testing.T) {
	const data = "#cloud-config\nruncmd:\n- kubeadm join --token abcdef.0123456789abcdef\n"
	onOneLine := strings.Join(strings.Fields(data), " ")
	encoded := base64.StdEncoding.EncodeToString([]byte(data))
	for _, c := range []struct{ reason, message, want string }{
		{"words of the service's own stay", "The key pair 'nope' does not exist", "The key pair 'nope' does not exist"},
		{"the data as a message shows it, on one line", "Value '" + onOneLine + "' is bad", "Value '(hidden)' is bad"},
		{"the data as it is", "Value '" + data + "' is bad", "Value '(hidden)' is bad"},
		{"the data as it is sent", "Value '" + encoded + "' is bad", "Value '(hidden)' is bad"},
		{"a part, cut off anywhere", "Value '" + encoded[9:60] + "...", "Value '(hidden)..."},
		{"both forms in one message", encoded + ": " + onOneLine, "(hidden): (hidden)"},
		{"the token alone", "secret=abcdef.0123456789abcdef.", "secret=(hidden)."},
		{"short words that happen to be in the data too", "kubeadm join", "kubeadm join"},
		{"nothing", "", ""},
	} {
		err := cloud.RedactError(&cloud.Error{Kind: cloud.Invalid, Message: c.message}, cloud.NewBootstrap([]byte(data), "cloud-config"))
		var e *cloud.Error
		if !errors.As(err, &e) || e.Message != c.want {
			t.Errorf("%s: want %q, got %v", c.reason, c.want, err)
		}
	}
	other := fmt.Errorf("other: %s", strings.Repeat("x", 64))
	if got := cloud.RedactError(other, cloud.NewBootstrap([]byte(data), "")); !errors.Is(got, other) {
		t.Errorf("want what is no refusal of the cloud's left as it is, got %v", got)
	}
	if got := cloud.RedactError(nil, cloud.Bootstrap{}); got != nil {
		t.Errorf("want no error made of none, got %v", got)
	}
}
