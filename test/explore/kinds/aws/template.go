package aws

import (
	"fmt"
	"slices"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// LaunchTemplate returns the launch template that the pool begins with.
func (a *Account) LaunchTemplate(managed bool) awsv1.AWSLaunchTemplate {
	if a.World.Scenario.Brought {
		return awsv1.AWSLaunchTemplate{Existing: &awsv1.ExistingLaunchTemplate{Name: ptr.To(broughtTemplate), Version: 1}}
	}
	t := awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: awssdk.String(simaws.KeyName)}
	if a.World.Scenario.Spot && !managed {
		t.SpotMarketOptions = &awsv1.SpotMarketOptions{}
	}
	return t
}

// EditTemplate changes what machines are launched as.
func EditTemplate(t *awsv1.AWSLaunchTemplate, n int) {
	if t.Existing != nil {
		t.Existing.Version = int64(1 + n%len(BroughtTypes))
		return
	}
	switch n % 4 {
	case 0:
		t.RootVolume = &awsv1.Volume{Size: int64(40 + 10*n), Type: "gp3"}
	case 1:
		t.RootVolume = nil
		t.InstanceType = simaws.InstanceType
	default:
		t.InstanceType = []string{"m5.large", "c5.large", "m5.xlarge"}[n%3]
	}
}

// BadType is a type of machine whose image does not boot, so that it never joins.
const BadType = "r5.large"

// SpoilTemplate asks for machines that never join.
func SpoilTemplate(t *awsv1.AWSLaunchTemplate) {
	if t.Existing == nil {
		t.InstanceType = BadType
	}
}

// SetTemplate replaces what machines are launched as.
func SetTemplate(is *awsv1.AWSLaunchTemplate, t awsv1.AWSLaunchTemplate) {
	t.VersionsToKeep = is.VersionsToKeep
	*is = t
}

// History returns how many templates the pool has, which versions of one are too many, and whether machines are launched from its default.
func (a *Account) History(keep int, is map[string]string) {
	c, templates := a.World.Snapshot(), 0
	for _, t := range c.Templates {
		if t.Owner != a.World.Objects.Owner().ID {
			continue
		}
		templates++
		is["spare versions"] = strconv.Itoa(len(t.Spare(c.Groups, keep)))
		for _, v := range t.Versions {
			if v.Default {
				is["default"] = fmt.Sprintf("version %d", v.Number)
			}
			if v.Default && slices.ContainsFunc(c.Groups, func(g oracle.Group) bool { return g.Template == t.ID && g.Version == v.Number }) {
				is["default"] = "in use"
			}
		}
	}
	is["templates"] = strconv.Itoa(templates)
}
