from app.models import Thing
from app import models
