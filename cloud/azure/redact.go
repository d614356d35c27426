package azure

import (
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// secrets returns what Azure's messages may repeat and must not be shown: the bootstrap data, and the protected settings of extensions,
// which a failed extension often quotes.
func (t target) secrets() []cloud.Bootstrap {
	list := []cloud.Bootstrap{t.Bootstrap}
	for _, extension := range t.pool.Template.VMExtensions {
		for _, value := range extension.ProtectedSettings {
			list = append(list, cloud.NewBootstrap([]byte(value), ""))
		}
	}
	return list
}

// redactError removes the secrets from an error.
func (t target) redactError(err error) error {
	for _, secret := range t.secrets() {
		err = cloud.RedactError(err, secret)
	}
	return err
}

// redactIssues returns copies of issues without the secrets.
func (t target) redactIssues(issues []pool.Cause) []pool.Cause {
	if len(issues) == 0 {
		return issues
	}
	issues, secrets := slices.Clone(issues), t.secrets()
	for k := range issues {
		for _, secret := range secrets {
			issues[k].Message = cloud.Redact(issues[k].Message, secret)
		}
	}
	return issues
}
