const { one } = require('./one')
module.exports = { part: one }
