// Package request reads what clients post about the sessions of agents: JSON that is read strictly,
// and decisions on pauses. The packages with handlers share it, so that all of them accept the
// same.
package request
