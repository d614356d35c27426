package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// putTemplate makes the template with its first version, or a new version of it.
func (p *pass) putTemplate(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	if want.data == nil {
		return cloud.Invalidf(fieldBootstrap, "there is no bootstrap data to make a launch template with")
	}
	if p.madeSince(s.Base, want.template) {
		return nil
	}
	id := p.memory.template.id
	p.memory.touchedTemplate()
	for k := range tokensMost {
		token := clientToken(p.t.Owner.ID, want.template, p.predecessor(s)+strings.Repeat("+", k))
		if id == "" {
			err = p.createTemplate(ctx, want, token)
		} else {
			err = p.createVersion(ctx, id, want, token)
		}
		if !spent(err, id) {
			break
		}
	}
	return err
}

// tokensMost bounds the client tokens that are tried. The service remembers for a day what a token has made, and goes on
// answering with it when that was deleted by hand meanwhile, or refuses the token when what goes with it has changed
// (tags, which are no part of the content): then the next token is due, which is as good a function of what was observed
// as the first. A lost reply still finds the token that has made what exists.
const tokensMost = 5

// spent says that the client token once made something else, or something that does not exist any more.
func spent(err error, id string) bool {
	switch codeOf(err) {
	case "IdempotentParameterMismatch":
		return true
	case "InvalidLaunchTemplateId.NotFound":
		return id == ""
	case "InvalidLaunchTemplateId.VersionNotFound":
		return id != ""
	}
	return false
}

func (p *pass) createVersion(ctx context.Context, id string, want wanted, token string) error {
	words := describe(want.template, want.data)
	made, err := p.c.ec2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: &id, LaunchTemplateData: want.data, VersionDescription: &words, ClientToken: &token,
	})
	if err != nil {
		return refusal(err, p.now)
	}
	if made.LaunchTemplateVersion != nil {
		p.learned(id, versionOf(*made.LaunchTemplateVersion), p.now)
	}
	return nil
}

// madeSince says whether a version of the wanted content and data has been made after the given one.
func (p *pass) madeSince(base string, want pool.Template) bool {
	for _, v := range p.memory.template.versions {
		if v.Ref == base {
			return false
		}
		if v.Same(want) && v.Data == want.Data {
			return true
		}
	}
	return false
}

// predecessor is what was there before: the newest version, or, when the template was deleted under a group, what that
// group still names. It keeps a repeated request apart from a new one with the same content.
func (p *pass) predecessor(s pool.Step) string {
	if s.Base == "" && p.memory.group.is != nil {
		return p.refOf(launchedFrom(p.memory.group.is))
	}
	return s.Base
}

func (p *pass) createTemplate(ctx context.Context, want wanted, token string) error {
	words := describe(want.template, want.data)
	made, err := p.c.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &p.t.template, LaunchTemplateData: want.data, VersionDescription: &words, ClientToken: &token,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: ec2Tags(p.t.tags())}},
	})
	if err = refusal(err, p.now); codeOf(err) == "InvalidLaunchTemplateName.AlreadyExistsException" {
		return p.ourTemplateAfterAll(ctx, err)
	}
	if err != nil {
		return err
	}
	if made.LaunchTemplate != nil {
		first := version{number: deref(made.LaunchTemplate.LatestVersionNumber), Template: want.template, parts: partsOf(*want.data)}
		first.Fixed = first.number == deref(made.LaunchTemplate.DefaultVersionNumber)
		id := deref(made.LaunchTemplate.LaunchTemplateId)
		first.Ref = ref(id, strconv.FormatInt(first.number, 10))
		p.memory.template.versions = nil
		p.learned(id, first, p.now)
	}
	return nil
}

// ourTemplateAfterAll finds out whether a template that exists already is the one that an earlier, unanswered request made.
func (p *pass) ourTemplateAfterAll(ctx context.Context, refused error) error {
	if err := p.readTemplate(ctx); err != nil {
		return err
	}
	if p.memory.template.ours {
		return nil
	}
	return refused
}

// pruneTemplates deletes versions. One that is gone already is no error.
func (p *pass) pruneTemplates(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	id := p.memory.template.id
	if id == "" || len(s.Refs) == 0 {
		return nil
	}
	numbers := make([]string, 0, len(s.Refs))
	for _, name := range s.Refs {
		of, number, err := parseRef(name)
		if err != nil {
			return err
		}
		if of != id {
			return fmt.Errorf("asked to delete version %s, which is not of this pool's launch template %s", name, id)
		}
		numbers = append(numbers, number)
	}
	at := p.memory.template.at
	p.memory.touchedTemplate()
	done, err := p.c.ec2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: numbers})
	if err != nil {
		if err = refusal(err, p.now); absent(err) {
			return nil
		}
		return err
	}
	for _, item := range done.UnsuccessfullyDeletedLaunchTemplateVersions {
		if err := undeleted(item); err != nil {
			return err
		}
	}
	p.memory.template.at = at
	p.memory.template.versions = slices.DeleteFunc(p.memory.template.versions, func(v version) bool { return slices.Contains(s.Refs, v.Ref) })
	return nil
}

// undeleted is the error of one version that was not deleted; nil when it is not there anyway.
func undeleted(item ec2types.DeleteLaunchTemplateVersionsResponseErrorItem) error {
	if item.ResponseError == nil {
		return nil
	}
	switch item.ResponseError.Code {
	case ec2types.LaunchTemplateErrorCodeLaunchTemplateVersionDoesNotExist, ec2types.LaunchTemplateErrorCodeLaunchTemplateIdDoesNotExist,
		ec2types.LaunchTemplateErrorCodeLaunchTemplateNameDoesNotExist:
		return nil
	}
	return &cloud.Error{
		Kind: cloud.Conflict, Op: "ec2:DeleteLaunchTemplateVersions", Code: string(item.ResponseError.Code),
		Message: fmt.Sprintf("version %d: %s", deref(item.VersionNumber), clean(deref(item.ResponseError.Message))),
	}
}

// deleteTemplates deletes the template with all its versions, if it is ours. A group of our name that is not ours is no
// obstacle, unless it launches from the template.
func (p *pass) deleteTemplates(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	if p.foreignLaunches() {
		return notOurs(p.foreignGroup())
	}
	if err := notOurs(p.foreignTemplate()); err != nil {
		return err
	}
	id := p.memory.template.id
	if id == "" {
		return nil
	}
	p.memory.touchedTemplate()
	_, err := p.c.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id})
	if err = refusal(err, p.now); err != nil && !absent(err) {
		return err
	}
	p.memory.template = templateRead{at: p.now}
	return nil
}
