package session

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

// templatesAtOnce is the number of names in one DescribeLaunchTemplates: a filter has 200 values at most, and a page 200 templates.
const templatesAtOnce = 200

// templates are the launch templates of a session's region, read for all pools together.
type templates struct {
	client *EC2
	now    func() time.Time
}

// newTemplates makes the sweep over the launch templates of a region.
func newTemplates(client *EC2, now func() time.Time) *sweep.Sweep[*ec2types.LaunchTemplate] {
	t := templates{client: client, now: now}
	return sweep.New(sweep.Options[*ec2types.LaunchTemplate]{Some: t.named, Chunk: templatesAtOnce, Now: now})
}

// named reads templates by name. If one alone is asked for that does not exist, it hands over nil: EC2 has been asked for that very name.
// Several are read by a filter, because EC2 refuses a request for several names if one of them does not exist.
func (t templates) named(ctx context.Context, names []string, found func(string, *ec2types.LaunchTemplate)) error {
	if len(names) == 1 {
		return t.one(ctx, names[0], found)
	}
	pages := ec2.NewDescribeLaunchTemplatesPaginator(t.client, &ec2.DescribeLaunchTemplatesInput{
		Filters: []ec2types.Filter{{Name: new("launch-template-name"), Values: names}}, MaxResults: new(int32(templatesAtOnce)),
	})
	ctx, _ = wire.Paged(ctx, 1)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return Refusal(err, t.now())
		}
		for k := range page.LaunchTemplates {
			is := &page.LaunchTemplates[k]
			found(ptr.Deref(is.LaunchTemplateName, ""), is)
		}
	}
	return nil
}

// one reads a template by its name.
func (t templates) one(ctx context.Context, name string, found func(string, *ec2types.LaunchTemplate)) error {
	out, err := t.client.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{name}})
	if err = Refusal(err, t.now()); err != nil && !Absent(err) {
		return err
	}
	if err != nil || len(out.LaunchTemplates) == 0 {
		found(name, nil)
		return nil
	}
	found(name, &out.LaunchTemplates[0])
	return nil
}

// Template returns a launch template, nil if there is none, and when it was read. maxAge is as in cloud.Target. The template is shared and
// must not be changed. proven is true if EC2 was asked for this very name: a list that leaves it out proves no absence.
func (s *Session) Template(ctx context.Context, name string,
	maxAge time.Duration) (is *ec2types.LaunchTemplate, proven bool, at time.Time, err error) {
	answer, err := s.templates.Get(ctx, name, maxAge)
	if err != nil {
		return nil, false, time.Time{}, err
	}
	return answer.Value, answer.Found, answer.At, nil
}

// TouchTemplate is called before and after a write to a launch template: what was read of it before is out of date.
func (s *Session) TouchTemplate(name string) { s.templates.Touch(name) }
