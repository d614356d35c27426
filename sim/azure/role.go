package azure

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// definitions are the built-in roles that are simulated, by their IDs.
var definitions = []struct {
	id, name, description string
	actions, notActions   []string
}{
	{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "Owner", "Grants full access to manage all resources.", []string{"*"}, nil},
	{
		"b24988ac-6180-42a0-ab88-20f7382dd24c", "Contributor", "Grants full access to manage all resources, but does not allow you to assign roles.",
		[]string{"*"},
		[]string{"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write"},
	},
	{"acdd72a7-3385-48ef-bd42-f606fba81ae7", "Reader", "View all resources.", []string{"*/read"}, nil},
	{"9980e02c-c2be-4d73-94e8-173b1dc7cf3c", "Virtual Machine Contributor", "Lets you manage virtual machines.", []string{"Microsoft.Compute/*"}, nil},
	{"4d97b98b-1d4f-4787-a291-c67834d212e7", "Network Contributor", "Lets you manage networks.", []string{"Microsoft.Network/*"}, nil},
	{"f1a07417-d97a-45cb-824c-7a7467783830", "Managed Identity Operator", "Read and assign identities.", []string{"Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action"}, nil},
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
func (w *roles) putAssignment(x *exchange) (*answer, error) {
	var body document
	if err := json.Unmarshal(x.body, &body); err != nil || under(body, "properties") == nil {
		return nil, refuse(http.StatusBadRequest, "InvalidRequestContent", "The request content was invalid and could not be deserialized.")
	}
	for member := range under(body, "properties") {
		switch member {
		case "roleDefinitionId", "principalId", "principalType", "description", "condition", "conditionVersion", "delegatedManagedIdentityResourceId":
		default:
			return nil, refuse(http.StatusBadRequest, "InvalidRequestContent", "Could not find member '%s' on object of type 'RoleAssignmentProperties'.", member)
		}
	}
	a := &assignment{
		Name: x.vars["name"], Scope: x.vars["scope"], Role: text(body, "properties.roleDefinitionId"), Principal: text(body, "properties.principalId"),
		PrincipalType: text(body, "properties.principalType"), Description: text(body, "properties.description"), Created: w.now,
	}
	a.ID = a.Scope + "/providers/Microsoft.Authorization/roleAssignments/" + a.Name
	if err := w.checkAssignment(a); err != nil {
		return nil, err
	}
	key := assignmentKey(a.Scope, a.Name)
	if have := w.assignments.Get(key); have != nil {
		if !have.like(a) {
			return nil, refuse(http.StatusBadRequest, "RoleAssignmentUpdateNotPermitted", "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.")
		}
		have.Description = a.Description
		w.assignments.Touch(key)
		return ok(have.show()), nil
	}
	for _, have := range w.assignments.All() {
		if have.like(a) {
			return nil, refuse(http.StatusConflict, "RoleAssignmentExists", "The role assignment already exists. The ID of the existing role assignment is %s.", strings.ReplaceAll(have.Name, "-", ""))
		}
	}
	w.assignments.Put(key, a)
	return &answer{status: http.StatusCreated, body: a.show()}, nil
}

func (w *roles) checkAssignment(a *assignment) error {
	id := lastOf(a.Role)
	switch {
	case !uuid.MatchString(a.Name):
		return refuse(http.StatusBadRequest, "InvalidRoleAssignmentId", "The role assignment ID '%s' is not valid. The role assignment ID must be a GUID.", a.Name)
	case a.Principal == "" || a.Role == "":
		return refuse(http.StatusBadRequest, "BadRequestFormat", "The request was incorrectly formatted: roleDefinitionId and principalId are required.")
	case definitionOf(id) == nil:
		return refuse(http.StatusNotFound, "RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.", id)
	case !w.environment.hasPrincipal(a.Principal):
		return refuse(http.StatusBadRequest, "PrincipalNotFound", "Principal %s does not exist in the directory %s. Check that you have the correct principal ID. "+
			"If you are creating this principal and then immediately assigning a role, this error might be related to a replication delay. In this case, set the role "+
			"assignment principalType property to a value, such as ServicePrincipal, User, or Group. See https://aka.ms/docs-principaltype", strings.ReplaceAll(a.Principal, "-", ""), TenantID)
	}
	if parts := strings.Split(strings.Trim(a.Scope, "/"), "/"); len(parts) >= 4 && strings.EqualFold(parts[2], "resourceGroups") && !w.environment.hasGroup(parts[1], parts[3]) {
		return refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", parts[3])
	}
	return nil
}

// lastOf is what follows the last slash.
func lastOf(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// like reports whether two assignments give the same role to the same principal at the same scope.
func (a *assignment) like(b *assignment) bool {
	return strings.EqualFold(strings.Trim(a.Scope, "/"), strings.Trim(b.Scope, "/")) && strings.EqualFold(lastOf(a.Role), lastOf(b.Role)) && strings.EqualFold(a.Principal, b.Principal)
}

func (a *assignment) show() document {
	return document{"id": a.ID, "name": a.Name, "type": "Microsoft.Authorization/roleAssignments", "properties": document{
		"roleDefinitionId": a.Role, "principalId": a.Principal, "principalType": "ServicePrincipal", "scope": a.Scope, "description": a.Description,
		"createdOn": stamp(a.Created), "updatedOn": stamp(a.Created),
	}}
}

func (w *roles) getAssignment(x *exchange) (*answer, error) {
	a := w.assignments.Get(assignmentKey(x.vars["scope"], x.vars["name"]))
	if a == nil {
		return nil, refuse(http.StatusNotFound, "RoleAssignmentNotFound", "The role assignment '%s' is not found.", x.vars["name"])
	}
	return ok(a.show()), nil
}

func (w *roles) deleteAssignment(x *exchange) (*answer, error) {
	key := assignmentKey(x.vars["scope"], x.vars["name"])
	a := w.assignments.Get(key)
	if a == nil {
		return &answer{status: http.StatusNoContent}, nil
	}
	w.assignments.Delete(key)
	return ok(a.show()), nil
}

// listAssignments lists what holds at a scope and below it, of one principal where the filter names one.
func (w *roles) listAssignments(x *exchange) (*answer, error) {
	principal := ""
	switch f := x.query.Get("$filter"); {
	case f == "", f == "atScope()":
	case principalFilter.MatchString(f):
		principal = principalFilter.FindStringSubmatch(f)[1]
	default:
		return nil, badRequest("The filter '%s' is not supported.", f)
	}
	var out []any
	for _, a := range w.assignments.All() {
		inside := strings.HasPrefix(strings.ToLower(a.Scope)+"/", strings.ToLower(x.vars["scope"])+"/")
		if inside && (principal == "" || strings.EqualFold(principal, a.Principal)) {
			out = append(out, a.show())
		}
	}
	return w.views.paged(x, out)
}

func definitionOf(id string) document {
	for _, d := range definitions {
		if strings.EqualFold(d.id, id) {
			return document{"name": d.id, "type": "Microsoft.Authorization/roleDefinitions", "properties": document{
				"roleName": d.name, "type": "BuiltInRole", "description": d.description, "assignableScopes": []any{"/"},
				"permissions": []any{document{"actions": list(d.actions), "notActions": list(d.notActions)}},
			}}
		}
	}
	return nil
}

func (w *roles) getDefinition(x *exchange) (*answer, error) {
	d := definitionOf(x.vars["name"])
	if d == nil {
		return nil, refuse(http.StatusNotFound, "RoleDefinitionDoesNotExist", "The specified role definition with ID '%s' does not exist.", x.vars["name"])
	}
	d["id"] = x.vars["scope"] + "/providers/Microsoft.Authorization/roleDefinitions/" + text(d, "name")
	return ok(d), nil
}

func (w *roles) listDefinitions(x *exchange) (*answer, error) {
	name := ""
	if f := x.query.Get("$filter"); f != "" {
		m := nameFilter.FindStringSubmatch(f)
		if m == nil {
			return nil, badRequest("The filter '%s' is not supported.", f)
		}
		name = m[1]
	}
	var out []any
	for _, role := range definitions {
		if name != "" && name != role.name {
			continue
		}
		d := definitionOf(role.id)
		d["id"] = x.vars["scope"] + "/providers/Microsoft.Authorization/roleDefinitions/" + role.id
		out = append(out, d)
	}
	return w.views.paged(x, out)
}
