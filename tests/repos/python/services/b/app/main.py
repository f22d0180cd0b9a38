import app.models
