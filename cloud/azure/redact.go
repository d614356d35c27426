package azure

import (
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// secrets are what no word of Azure's may repeat: what machines boot with, and the protected settings of their extensions, which
// an extension that fails likes to quote.
func (t target) secrets() []cloud.Bootstrap {
	list := []cloud.Bootstrap{t.Bootstrap}
	for _, extension := range t.pool.Template.VMExtensions {
		for _, value := range extension.ProtectedSettings {
			list = append(list, cloud.NewBootstrap([]byte(value), ""))
		}
	}
	return list
}

// redactError cuts the secrets out of a refusal.
func (t target) redactError(err error) error {
	for _, secret := range t.secrets() {
		err = cloud.RedactError(err, secret)
	}
	return err
}

// redactIssues cuts them out of issues, and gives new ones.
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
