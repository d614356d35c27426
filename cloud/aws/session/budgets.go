package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud/wire"
)

// The documented token buckets of EC2 are per operation, account and region, and SSM's GetParameter has 40 a second. Auto Scaling has one
// bucket for everything, of a size that is not published; EKS and IAM publish nothing either. Their figures are where the bucket begins: it
// learns from throttling. S3 has thousands a second, and the figure below only keeps us from being a flood.
const (
	ec2ReadBurst, ec2ReadRate         = 100, 20
	ec2WideReadBurst, ec2WideReadRate = 50, 10
	ec2WriteBurst, ec2WriteRate       = 50, 5
	ec2TemplateBurst, ec2TemplateRate = 100, 5
	ssmBurst, ssmRate                 = 40, 40
	s3Burst, s3Rate                   = 100, 50
	adaptiveBurst, adaptiveRate       = 100, 25
)

// serviceNames are the names, in messages, of the services that have one bucket.
var serviceNames = map[string]string{"autoscaling": "Auto Scaling", "eks": "EKS", "iam": "IAM", "ssm": "SSM", "s3": "S3"}

// wideReads have a smaller bucket than other reads, because they can be asked for everything at once.
var wideReads = map[string]bool{"DescribeSecurityGroups": true, "DescribeInstances": true}

// budgetsOf is the one bucket of a call.
func budgetsOf(c wire.Call) []wire.Budget { return []wire.Budget{budgetOf(c)} }

// budgetOf is the bucket of a call.
func budgetOf(c wire.Call) wire.Budget {
	b := wire.Budget{
		Key:  strings.Join([]string{c.Account, c.Region, c.Service}, "/"),
		Name: fmt.Sprintf("%s of account %s in region %s", cmp.Or(serviceNames[c.Service], c.String()), c.Account, c.Region), Label: c.Service,
	}
	switch c.Service {
	case "autoscaling", "eks", "iam":
		b.Burst, b.PerSecond, b.Adaptive = adaptiveBurst, adaptiveRate, true
	case "s3":
		b.Burst, b.PerSecond = s3Burst, s3Rate
	case "ssm":
		b.Burst, b.PerSecond = ssmBurst, ssmRate
	case "ec2":
		b.Key, b.Label = b.Key+"/"+c.Operation, c.Service+" "+c.Operation
		b.Burst, b.PerSecond = ec2Limit(c.Operation)
	}
	return b
}

// ec2Limit is the bucket of an operation of EC2.
func ec2Limit(operation string) (burst int, perSecond float64) {
	switch {
	case wideReads[operation]:
		return ec2WideReadBurst, ec2WideReadRate
	case strings.HasPrefix(operation, "Describe"):
		return ec2ReadBurst, ec2ReadRate
	case strings.Contains(operation, "LaunchTemplateVersion"), operation == "ModifyLaunchTemplate":
		return ec2TemplateBurst, ec2TemplateRate
	}
	return ec2WriteBurst, ec2WriteRate
}

// readOnly reports whether an operation changes nothing, by its name.
func readOnly(operation string) bool {
	for _, verb := range []string{"Describe", "Get", "List", "Head", "Simulate"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}
