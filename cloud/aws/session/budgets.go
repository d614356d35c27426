package session

import (
	"strings"

	"github.com/muster-project/muster/cloud/wire"
)

// The documented token buckets of EC2 are per operation, account and region. Auto Scaling has one bucket for everything,
// of a size that is not published: the figure below has been safe in accounts with the default quotas. EKS and IAM, which publish
// nothing either, are taken to be alike. SSM's GetParameter has 40 a second; S3 has thousands, and the figure below only keeps us
// from being a flood.
const (
	ec2ReadBurst, ec2ReadRate         = 100, 20
	ec2WideReadBurst, ec2WideReadRate = 50, 10
	ec2WriteBurst, ec2WriteRate       = 50, 5
	ec2TemplateBurst, ec2TemplateRate = 100, 5
	autoscalingBurst, autoscalingRate = 60, 8
	eksBurst, eksRate                 = 60, 8
	iamBurst, iamRate                 = 60, 8
	ssmBurst, ssmRate                 = 40, 40
	s3Burst, s3Rate                   = 100, 50
)

// wideReads have a smaller bucket than other reads, because they can be asked for everything at once.
var wideReads = map[string]bool{"DescribeSecurityGroups": true, "DescribeInstances": true}

// budgetsOf is the one bucket of a call.
func budgetsOf(c wire.Call) []wire.Budget { return []wire.Budget{budgetOf(c)} }

// budgetOf is the bucket of a call.
func budgetOf(c wire.Call) wire.Budget {
	key := strings.Join([]string{c.Account, c.Region, c.Service}, "/")
	switch c.Service {
	case "autoscaling":
		return wire.Budget{Key: key, Burst: autoscalingBurst, PerSecond: autoscalingRate}
	case "s3":
		return wire.Budget{Key: key, Burst: s3Burst, PerSecond: s3Rate}
	case "eks":
		return wire.Budget{Key: key, Burst: eksBurst, PerSecond: eksRate}
	case "iam":
		return wire.Budget{Key: key, Burst: iamBurst, PerSecond: iamRate}
	case "ssm":
		return wire.Budget{Key: key, Burst: ssmBurst, PerSecond: ssmRate}
	case "ec2":
		b := wire.Budget{Key: key + "/" + c.Operation, Burst: ec2WriteBurst, PerSecond: ec2WriteRate}
		switch {
		case wideReads[c.Operation]:
			b.Burst, b.PerSecond = ec2WideReadBurst, ec2WideReadRate
		case strings.HasPrefix(c.Operation, "Describe"):
			b.Burst, b.PerSecond = ec2ReadBurst, ec2ReadRate
		case strings.Contains(c.Operation, "LaunchTemplateVersion"), c.Operation == "ModifyLaunchTemplate":
			b.Burst, b.PerSecond = ec2TemplateBurst, ec2TemplateRate
		}
		return b
	}
	return wire.Budget{}
}
