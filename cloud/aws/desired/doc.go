// Package desired is what the specification of a pool asks for of an Auto Scaling group, beside its size and its launch template, as plain
// data: how the group differs from it field by field, and the requests that create the group and repair it. It sends nothing.
package desired
