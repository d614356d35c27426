package azure

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// TestSecretsAreNotRepeated holds that neither a refusal nor the words on a machine that failed show a secret.
func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	const boot, key = "token: abcdef.0123456789abcdef", "storage-account-key-0123456789=="
	to := target{Target: Target{Bootstrap: cloud.NewBootstrap([]byte(boot), "cloud-config")}, pool: &azurev1.AzureMachinePoolSpec{}}
	to.pool.Template.VMExtensions = []azurev1.VMExtension{{Name: "x", ProtectedSettings: map[string]string{"key": key}}}
	words := fmt.Sprintf("VMExtensionProvisioningError: settings %s, custom data %s, the end", key,
		base64.StdEncoding.EncodeToString([]byte(boot)))
	want := "VMExtensionProvisioningError: settings (hidden), custom data (hidden), the end"
	issues := []pool.Cause{{Reason: "LaunchFailed", Message: words}}
	if got := to.redactIssues(issues)[0].Message; got != want {
		t.Errorf("want %q of an issue, got %q", want, got)
	}
	if issues[0].Message != words {
		t.Error("want what is remembered left as it is")
	}
	if got := to.redactError(&cloud.Error{Kind: cloud.Invalid, Message: words}).Error(); got != want {
		t.Errorf("want %q of a refusal, got %q", want, got)
	}
	if got := to.redactError(&cloud.Error{Kind: cloud.Invalid, Message: "nothing of the sort"}).Error(); strings.Contains(got, "hidden") {
		t.Errorf("want other words left, got %q", got)
	}
}
