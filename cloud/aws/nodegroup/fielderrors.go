package nodegroup

import (
	"regexp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/aws/session"
)

// The services' words on fields that are not the launch template's.
var (
	subnetWords   = regexp.MustCompile(`(?i)subnets? (?:ID )?'?\[?(subnet-[0-9a-zA-Z]+)\]?'?`)
	minWords      = regexp.MustCompile(`(?i)(?:violate group's min size|min(?:imum)?.?(?:size|capacity))`)
	maxWords      = regexp.MustCompile(`(?i)max(?:imum)?.?(?:size|capacity)`)
	policyWords   = regexp.MustCompile(`(?i)\bpolicy\b.*(?:does not exist|not found|not attachable)|arn:.*:policy/`)
	boundaryWords = regexp.MustCompile(`(?i)permissions? boundary`)
	releaseWords  = regexp.MustCompile(`(?i)release ?version|ami version`)
	imagesWords   = regexp.MustCompile(`(?i)ami ?type`)
	versionWords  = regexp.MustCompile(`(?i)kubernetes version|\bversion '?1\.`)
	keyWords      = regexp.MustCompile(`(?i)(?:key ?pair|ssh ?key|ec2sshkey)`)
	sourceWords   = regexp.MustCompile(`(?i)security ?groups?`)
	diskWords     = regexp.MustCompile(`(?i)disk ?size`)
	labelWords    = regexp.MustCompile(`(?i)\blabels?\b`)
	taintWords    = regexp.MustCompile(`(?i)\btaints?\b`)
	capacityWords = regexp.MustCompile(`(?i)capacity ?type`)
	updateWords   = regexp.MustCompile(`(?i)max ?unavailable|update ?config`)
	typesWords    = regexp.MustCompile(`(?i)instance ?types? `)
)

// blame puts the field to an invalid request that does not name one yet, as far as the services' words tell.
func (t target) blame(err error) error {
	subnets := make([]awsv1.AWSResourceReference, 0, len(t.pool.SubnetIDs))
	for _, id := range t.pool.SubnetIDs {
		subnets = append(subnets, awsv1.AWSResourceReference{ID: &id})
	}
	list := []session.Blamed{
		{Words: session.TagWords, Field: driftTags},
		{Words: subnetWords, Field: fieldSubnets, Items: subnets},
		{Words: boundaryWords, Field: noderole.FieldBoundary},
		{Words: policyWords, Field: noderole.FieldPolicies},
		{Words: releaseWords, Field: fieldRelease},
		{Words: imagesWords, Field: fieldImages},
		{Words: capacityWords, Field: fieldCapacity},
	}
	if t.template != "" {
		list = append(list, launch.Blamed(t.pool.AWSLaunchTemplate)...)
	} else {
		list = append(list, []session.Blamed{
			{Words: keyWords, Field: fieldRemote + ".sshKeyName"},
			{Words: sourceWords, Field: fieldRemote + ".sourceSecurityGroups"},
			{Words: typesWords, Field: t.fieldOfTypes()},
			{Words: diskWords, Field: fieldDisk},
		}...)
	}
	return session.Blame(err, append(list, []session.Blamed{
		{Words: minWords, Field: fieldMin},
		{Words: maxWords, Field: fieldMax},
		{Words: labelWords, Field: driftLabels},
		{Words: taintWords, Field: driftTaints},
		{Words: updateWords, Field: driftUpdate},
		{Words: noderole.Words, Field: noderole.FieldName},
		{Words: versionWords, Field: fieldVersion},
	}...))
}

// fieldOfTypes is where the specification names instance types.
func (t target) fieldOfTypes() string {
	if len(t.pool.InstanceTypes) > 0 {
		return fieldTypes
	}
	return fieldType
}
