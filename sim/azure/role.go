package azure

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// definitions are the built-in roles that are simulated, by their IDs.
var definitions = []struct {
	id, name, description string
	actions, notActions   []string
}{
	{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "Owner", "Grants full access to manage all resources.", []string{"*"}, nil},
	{
		"b24988ac-6180-42a0-ab88-20f7382dd24c", "Contributor",
		"Grants full access to manage all resources, but does not allow you to assign roles.",
		[]string{"*"},
		[]string{"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write"},
	},
	{"acdd72a7-3385-48ef-bd42-f606fba81ae7", "Reader", "View all resources.", []string{"*/read"}, nil},
	{"9980e02c-c2be-4d73-94e8-173b1dc7cf3c", "Virtual Machine Contributor", "Lets you manage virtual machines.",
		[]string{"Microsoft.Compute/*"}, nil},
	{"4d97b98b-1d4f-4787-a291-c67834d212e7", "Network Contributor", "Lets you manage networks.", []string{"Microsoft.Network/*"}, nil},
	{"f1a07417-d97a-45cb-824c-7a7467783830", "Managed Identity Operator", "Read and assign identities.",
		[]string{"Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action"}, nil},
	{"7f951dda-4ed3-4680-a7ca-43fe172d538d", "AcrPull", "Pull images.", []string{"Microsoft.ContainerRegistry/registries/pull/read"}, nil},
}

var (
	uuid            = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	principalFilter = regexp.MustCompile(`^(?:principalId|assignedTo\(\)?) ?eq '([^']*)'$`)
	nameFilter      = regexp.MustCompile(`^roleName eq '([^']*)'$`)
)

// assignmentKey is where a role assignment is kept.
func assignmentKey(scope, name string) string {
	return strings.ToLower(strings.TrimSuffix(scope, "/") + "/providers/Microsoft.Authorization/roleAssignments/" + name)
}

// putAssignment gives a principal a role at a scope.
func (w *roles) putAssignment(x *arm.Call) (*arm.Answer, error) {
	var body document.Object
	if err := json.Unmarshal(x.Body, &body); err != nil || document.Under(body, "properties") == nil {
		return nil, arm.Refuse(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid and could not be deserialized.")
	}
	for member := range document.Under(body, "properties") {
		switch member {
		case "roleDefinitionId", "principalId", "principalType", "description", "condition", "conditionVersion",
			"delegatedManagedIdentityResourceId":
		default:
			return nil, arm.Refuse(http.StatusBadRequest, "InvalidRequestContent",
				"Could not find member '%s' on object of type 'RoleAssignmentProperties'.", member)
		}
	}
	a := &assignment{
		Name: x.Vars["name"], Scope: x.Vars["scope"], Role: document.Text(body, "properties.roleDefinitionId"),
		Principal:     document.Text(body, "properties.principalId"),
		PrincipalType: document.Text(body, "properties.principalType"), Description: document.Text(body, "properties.description"),
		Created: w.Now,
	}
	a.ID = a.Scope + "/providers/Microsoft.Authorization/roleAssignments/" + a.Name
	if err := w.checkAssignment(a); err != nil {
		return nil, err
	}
	key := assignmentKey(a.Scope, a.Name)
	if have := w.assignments.Get(key); have != nil {
		if !have.like(a) {
			return nil, arm.Refuse(http.StatusBadRequest, "RoleAssignmentUpdateNotPermitted",
				"Tenant ID, application ID, principal ID, and scope are not allowed to be updated.")
		}
		have.Description = a.Description
		w.assignments.Touch(key)
		return arm.OK(have.show()), nil
	}
	for _, have := range w.assignments.All() {
		if have.like(a) {
			return nil, arm.Refuse(http.StatusConflict, "RoleAssignmentExists",
				"The role assignment already exists. The ID of the existing role assignment is %s.", strings.ReplaceAll(have.Name, "-", ""))
		}
	}
	w.assignments.Put(key, a)
	return &arm.Answer{Status: http.StatusCreated, Body: a.show()}, nil
}

func (w *roles) checkAssignment(a *assignment) error {
	id := arm.LastOf(a.Role)
	switch {
	case !uuid.MatchString(a.Name):
		return arm.Refuse(http.StatusBadRequest, "InvalidRoleAssignmentId",
			"The role assignment ID '%s' is not valid. The role assignment ID must be a GUID.", a.Name)
	case a.Principal == "" || a.Role == "":
		return arm.Refuse(http.StatusBadRequest, "BadRequestFormat",
			"The request was incorrectly formatted: roleDefinitionId and principalId are required.")
	case definitionOf(id) == nil:
		return arm.Refuse(http.StatusNotFound, "RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.", id)
	case !w.environment.hasPrincipal(a.Principal):
		return arm.Refuse(http.StatusBadRequest, "PrincipalNotFound",
			"Principal %s does not exist in the directory %s. Check that you have the correct principal ID. "+
				"If you are creating this principal and then immediately assigning a role, this error might be related to a replication delay. In "+
				"this case, set the role "+
				"assignment principalType property to a value, such as ServicePrincipal, User, or Group. See https://aka.ms/docs-principaltype",
			strings.ReplaceAll(a.Principal, "-", ""), TenantID)
	}
	if parts := strings.Split(strings.Trim(a.Scope, "/"), "/"); len(parts) >= 4 && strings.EqualFold(parts[2], "resourceGroups") &&
		!w.HasGroup(parts[1], parts[3]) {
		return arm.Refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", parts[3])
	}
	return nil
}

// like reports whether two assignments give the same role to the same principal at the same scope.
func (a *assignment) like(b *assignment) bool {
	return strings.EqualFold(strings.Trim(a.Scope, "/"), strings.Trim(b.Scope, "/")) &&
		strings.EqualFold(arm.LastOf(a.Role), arm.LastOf(b.Role)) && strings.EqualFold(a.Principal, b.Principal)
}

func (a *assignment) show() document.Object {
	return document.Object{"id": a.ID, "name": a.Name, "type": "Microsoft.Authorization/roleAssignments", "properties": document.Object{
		"roleDefinitionId": a.Role, "principalId": a.Principal, "principalType": "ServicePrincipal", "scope": a.Scope,
		"description": a.Description,
		"createdOn":   arm.Stamp(a.Created), "updatedOn": arm.Stamp(a.Created),
	}}
}

func (w *roles) getAssignment(x *arm.Call) (*arm.Answer, error) {
	a := w.assignments.Get(assignmentKey(x.Vars["scope"], x.Vars["name"]))
	if a == nil {
		return nil, arm.Refuse(http.StatusNotFound, "RoleAssignmentNotFound", "The role assignment '%s' is not found.", x.Vars["name"])
	}
	return arm.OK(a.show()), nil
}

func (w *roles) deleteAssignment(x *arm.Call) (*arm.Answer, error) {
	key := assignmentKey(x.Vars["scope"], x.Vars["name"])
	a := w.assignments.Get(key)
	if a == nil {
		return &arm.Answer{Status: http.StatusNoContent}, nil
	}
	w.assignments.Delete(key)
	return arm.OK(a.show()), nil
}

// listAssignments lists what holds at a scope and below it, of one principal where the filter names one.
func (w *roles) listAssignments(x *arm.Call) (*arm.Answer, error) {
	principal := ""
	switch f := x.Query.Get("$filter"); {
	case f == "", f == "atScope()":
	case principalFilter.MatchString(f):
		principal = principalFilter.FindStringSubmatch(f)[1]
	default:
		return nil, arm.BadRequest("The filter '%s' is not supported.", f)
	}
	var out []any
	for _, a := range w.assignments.All() {
		inside := strings.HasPrefix(strings.ToLower(a.Scope)+"/", strings.ToLower(x.Vars["scope"])+"/")
		if inside && (principal == "" || strings.EqualFold(principal, a.Principal)) {
			out = append(out, a.show())
		}
	}
	return w.Paged(x, out)
}

func definitionOf(id string) document.Object {
	for _, d := range definitions {
		if strings.EqualFold(d.id, id) {
			return document.Object{"name": d.id, "type": "Microsoft.Authorization/roleDefinitions", "properties": document.Object{
				"roleName": d.name, "type": "BuiltInRole", "description": d.description, "assignableScopes": []any{"/"},
				"permissions": []any{document.Object{"actions": document.List(d.actions), "notActions": document.List(d.notActions)}},
			}}
		}
	}
	return nil
}

func (w *roles) getDefinition(x *arm.Call) (*arm.Answer, error) {
	d := definitionOf(x.Vars["name"])
	if d == nil {
		return nil, arm.Refuse(http.StatusNotFound, "RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.",
			x.Vars["name"])
	}
	d["id"] = x.Vars["scope"] + "/providers/Microsoft.Authorization/roleDefinitions/" + document.Text(d, "name")
	return arm.OK(d), nil
}

func (w *roles) listDefinitions(x *arm.Call) (*arm.Answer, error) {
	name := ""
	if f := x.Query.Get("$filter"); f != "" {
		m := nameFilter.FindStringSubmatch(f)
		if m == nil {
			return nil, arm.BadRequest("The filter '%s' is not supported.", f)
		}
		name = m[1]
	}
	var out []any
	for _, role := range definitions {
		if name != "" && name != role.name {
			continue
		}
		d := definitionOf(role.id)
		d["id"] = x.Vars["scope"] + "/providers/Microsoft.Authorization/roleDefinitions/" + role.id
		out = append(out, d)
	}
	return w.Paged(x, out)
}

// assignment is a role assignment.
type assignment struct {
	ID, Name, Scope, Role, Principal, PrincipalType, Description string
	Created                                                      time.Time
	By                                                           string
}
