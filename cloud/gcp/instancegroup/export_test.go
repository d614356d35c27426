package instancegroup

// FieldOf is fieldOf.
var FieldOf = fieldOf
